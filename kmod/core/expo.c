// SPDX-License-Identifier: GPL-2.0
/* The ziggurat's tables and draws outside its layers. */
#include "explog.h"
#include "expo.h"

/* Where the lowest layer ends and the tail begins: x[1] = 6.898315. */
#define TAIL_Q32	29628037823ull

/*
 * x[0] > x[1] > ... > x[128] = 0 such that all layers have the same area; x[0] is what the width of
 * the lowest would be if it were a rectangle. Entries: 2^64 x[i + 1] / x[i], 2^32 x[i].
 */
const struct spek_expo_layer spek_expo_layer[SPEK_EXPO_LAYERS] = {
	{ 0xdf9688bda95ce301ull, 0x7e5f7fabfull },
	{ 0xe3ae1dd040148bbcull, 0x6e5f7fabfull },
	{ 0xec622f1fa45a803aull, 0x6229bff8eull },
	{ 0xf0986fbcf7b9d5b9ull, 0x5aa42306bull },
	{ 0xf31d0df9c0ba1bbbull, 0x552fd9db3ull },
	{ 0xf4cd07fce550b3e7ull, 0x50e616dd4ull },
	{ 0xf6041c9638b3f469ull, 0x4d5c18916ull },
	{ 0xf6ef857588626159ull, 0x4a57bdaf9ull },
	{ 0xf7a83deabe528c2cull, 0x47b5def28ull },
	{ 0xf83d3ed29599fa81ull, 0x455f9ace6ull },
	{ 0xf8b8130bfc25488aull, 0x434536c61ull },
	{ 0xf91f1c567ee1c647ull, 0x415b6bd08ull },
	{ 0xf976ca7a48218eebull, 0x3f99dd2bfull },
	{ 0xf9c24ca169e08a9dull, 0x3dfa2b598ull },
	{ 0xfa03fbabd9d1cb53ull, 0x3c775e4c4ull },
	{ 0xfa3d9cac6f264a17ull, 0x3b0d82ee3ull },
	{ 0xfa708bfdf3bd8db6ull, 0x39b96838dull },
	{ 0xfa9dda0b0986e395ull, 0x387870760ull },
	{ 0xfac65f0c34b85a61ull, 0x37486fc93ull },
	{ 0xfaeac8e3f5d2f7a8ull, 0x362793b77ull },
	{ 0xfb0ba50d2a39bdf4ull, 0x351450ed5ull },
	{ 0xfb2967da3f4c6960ull, 0x340d55710ull },
	{ 0xfb4471d5357b1c6dull, 0x33117e063ull },
	{ 0xfb5d13cb524300d7ull, 0x321fcdeadull },
	{ 0xfb7391e31b451787ull, 0x313768533ull },
	{ 0xfb8825fe3adeae0bull, 0x30578b398ull },
	{ 0xfb9b019596d342a2ull, 0x2f7f8b300ull },
	{ 0xfbac4f30bc228789ull, 0x2eaecffc9ull },
	{ 0xfbbc3390ae1037faull, 0x2de4d1d14ull },
	{ 0xfbcace9fc7b92f9cull, 0x2d211700cull },
	{ 0xfbd83c33d7f7145bull, 0x2c633216bull },
	{ 0xfbe494ac5c145ac8ull, 0x2baac03ecull },
	{ 0xfbefed745d03ddf5ull, 0x2af767ecdull },
	{ 0xfbfa596db220731full, 0x2a48d7b9dull },
	{ 0xfc03e94a1e604934ull, 0x299ec56b5ull },
	{ 0xfc0cabd5c1b9fd8aull, 0x28f8ed1f8ull },
	{ 0xfc14ae3599ebe7bfull, 0x28571096aull },
	{ 0xfc1bfc1c3c0c0fe1ull, 0x27b8f6953ull },
	{ 0xfc229ff67fd7c72dull, 0x271e6a5b5ull },
	{ 0xfc28a3117e5b959aull, 0x26873b2d9ull },
	{ 0xfc2e0dbb012bff56ull, 0x25f33becdull },
	{ 0xfc32e75d498786d1ull, 0x256242bafull },
	{ 0xfc373696ec00bb7aull, 0x24d428aa6ull },
	{ 0xfc3b014f5b37a5ffull, 0x2448c976eull },
	{ 0xfc3e4cc8a0cc8561ull, 0x23c003470ull },
	{ 0xfc411daead9e7e3bull, 0x2339b673bull },
	{ 0xfc4378249879ecf4ull, 0x22b5c556dull },
	{ 0xfc455fd013b6bc8cull, 0x2234141e4ull },
	{ 0xfc46d7e35643cdcaull, 0x21b488a45ull },
	{ 0xfc47e325aab2d0f7ull, 0x21370a4bbull },
	{ 0xfc4883face9e4385ull, 0x20bb81df1ull },
	{ 0xfc48bc6945e5dbd6ull, 0x2041d9742ull },
	{ 0xfc488e1fbf79e93aull, 0x1fc9fc511ull },
	{ 0xfc47fa79a48ea505ull, 0x1f53d6d4cull },
	{ 0xfc470282e6ea10e1ull, 0x1edf5660cull },
	{ 0xfc45a6fb1f6ecc15ull, 0x1e6c6945cull },
	{ 0xfc43e8580aefa502ull, 0x1dfafeb13ull },
	{ 0xfc41c6c770a2f36cull, 0x1d8b069cdull },
	{ 0xfc3f42307b264301ull, 0x1d1c71bfaull },
	{ 0xfc3c5a348ad9db76ull, 0x1caf317f7ull },
	{ 0xfc390e2f8661fb12ull, 0x1c4337e49ull },
	{ 0xfc355d37ac44a703ull, 0x1bd8778d6ull },
	{ 0xfc31461ce6dba61full, 0x1b6ee3a39ull },
	{ 0xfc2cc767a2205bc6ull, 0x1b066fd20ull },
	{ 0xfc27df5721292c41ull, 0x1a9f103aeull },
	{ 0xfc228bdf4f7c825dull, 0x1a38b96f1ull },
	{ 0xfc1ccaa6089b171dull, 0x19d36065aull },
	{ 0xfc1698ffce480afeull, 0x196efa742ull },
	{ 0xfc0ff3ebe4175b85ull, 0x190b7d472ull },
	{ 0xfc08d80fc49ef63bull, 0x18a8dedb6ull },
	{ 0xfc0141b1e23f7237ull, 0x18471576eull },
	{ 0xfbf92cb3a2c8e50cull, 0x17e617a31ull },
	{ 0xfbf0948a8235a4c6ull, 0x1785dc263ull },
	{ 0xfbe77438453c8576ull, 0x172659fdfull },
	{ 0xfbddc642207f1451ull, 0x16c78859aull },
	{ 0xfbd384a6b47ad539ull, 0x16695e94dull },
	{ 0xfbc8a8d2b9055806ull, 0x160bd431cull },
	{ 0xfbbd2b942cd1db4cull, 0x15aee0d48ull },
	{ 0xfbb1050bd61b28e4ull, 0x15527c3d4ull },
	{ 0xfba42c9cd8d17bf7ull, 0x14f69e439ull },
	{ 0xfb9698da1c50e9a9ull, 0x149b3ed0eull },
	{ 0xfb883f712e4df916ull, 0x144055db5ull },
	{ 0xfb79151241e2e968ull, 0x13e5db607ull },
	{ 0xfb690d54d7ebc25dull, 0x138bc75f8ull },
	{ 0xfb581a9888793d8bull, 0x133211d40ull },
	{ 0xfb462de14b34a1a7ull, 0x12d8b2af8ull },
	{ 0xfb3336ae7cff822eull, 0x127fa1d3aull },
	{ 0xfb1f22cbba840c82ull, 0x1226d70b4ull },
	{ 0xfb09de1a7803273cull, 0x11ce4a03bull },
	{ 0xfaf352530427d663ull, 0x1175f244full },
	{ 0xfadb66bb5b0834c7ull, 0x111dc729cull },
	{ 0xfac1ffd1d3e21f8bull, 0x10c5bfd68ull },
	{ 0xfaa6fee942756e5aull, 0x106dd32feull },
	{ 0xfa8a41b395670117ull, 0x1015f7cfaull },
	{ 0xfa6ba1b744e76ef5ull, 0x0fbe23f93ull },
	{ 0xfa4af3aafbf4629bull, 0x0f664d8c4ull },
	{ 0xfa2806b1bac80c7aull, 0x0f0e69f5cull },
	{ 0xfa02a3702c5dce32ull, 0x0eb66e1f5ull },
	{ 0xf9da8af1ed14a21eull, 0x0e5e4e5c1ull },
	{ 0xf9af7552e35eb058ull, 0x0e05fe52bull },
	{ 0xf981101d522e19cbull, 0x0dad70e49ull },
	{ 0xf94efc48a3eb6cfaull, 0x0d549810aull },
	{ 0xf918cbbe9c8e7675ull, 0x0cfb64d19ull },
	{ 0xf8ddfe43fc48e885ull, 0x0ca1c6f64ull },
	{ 0xf89dfd95a2c931f6ull, 0x0c47acf33ull },
	{ 0xf858187a78cc33a3ull, 0x0bed03aabull },
	{ 0xf80b7c728a3fd03eull, 0x0b91b62a9ull },
	{ 0xf7b72d8957deeb49ull, 0x0b35ad5bdull },
	{ 0xf759fb9f0ef302c0ull, 0x0ad8cfa0full },
	{ 0xf6f274315eb5eabbull, 0x0a7b005ddull },
	{ 0xf67ecf3aeb50f6e9ull, 0x0a1c1f624ull },
	{ 0xf5fcd51051c5e5cbull, 0x09bc082eeull },
	{ 0xf569ba0af05efc10ull, 0x095a91070ull },
	{ 0xf4c1eb0d23f12452ull, 0x08f789bd6ull },
	{ 0xf400c2f84ef38d73ull, 0x0892ba231ull },
	{ 0xf3201c17ff74541dull, 0x082bdff0full },
	{ 0xf217a773ccddc346ull, 0x07c2abf34ull },
	{ 0xf0dbe31ebf97dfe8ull, 0x0756be1ceull },
	{ 0xef5c67c8061dee48ull, 0x06e79ff28ull },
	{ 0xed81024b4fe39521ull, 0x0674bc5d8ull },
	{ 0xeb2479ca9586268cull, 0x05fd53444ull },
	{ 0xe80a830ae6bb688eull, 0x058065e8eull },
	{ 0xe3cac9d1f6975831ull, 0x04fc962ffull },
	{ 0xdda058265f4b63e0ull, 0x046fec697ull },
	{ 0xd3e7a257e06852acull, 0x03d76691full },
	{ 0xc2735d80dc3050e8ull, 0x032e03577ull },
	{ 0x9ae6fc6f3abd43aeull, 0x026a4d5d1ull },
	{ 0x0000000000000000ull, 0x0176206d3ull },
};

/* exp(-x[i]) in Q63: layer i lies between entries i and i + 1; the lowest one is not looked up. */
static const u64 height_q63[SPEK_EXPO_LAYERS + 1] = {
	0, 0x0021142c3b801febull, 0x0046f3eaaf6d8090ull, 0x007189a8f4383496ull,
	0x009fa817bd00066full, 0x00d0ba73f77e0825ull, 0x010466b20366ee77ull, 0x013a7019b3ea22d4ull,
	0x0172aae62e98fb4dull, 0x01acf6180445c747ull, 0x01e9380138cb2f57ull, 0x02275c2df4a5d6eaull,
	0x0267520c282987a6ull, 0x02a90c03525a5d2aull, 0x02ec7ed1de5c036dull, 0x0331a117a83beff3ull,
	0x03786afee86c6a35ull, 0x03c0d5fa3cbb2ccdull, 0x040adc91c0d57e42ull, 0x04567a3b24e0e33bull,
	0x04a3ab39f3d530caull, 0x04f26c860eb5b4d8ull, 0x0542bbb6efb5c8adull, 0x059496f2a9c97bbcull,
	0x05e7fcdfdd6aafa2ull, 0x063cec9a0c120034ull, 0x069365a7d7376cafull, 0x06eb67f2d1b0cde9ull,
	0x0744f3c09dacaa90ull, 0x07a009ad20326911ull, 0x07fcaaa59e46eef0ull, 0x085ad7e4a07e83a5ull,
	0x08ba92ee8087e975ull, 0x091bdd8e8990c86cull, 0x097eb9d498a04e4eull, 0x09e32a132d6b0cc4ull,
	0x0a4930dddee3097cull, 0x0ab0d10829052754ull, 0x0b1a0da48b3d5c46ull, 0x0b84ea03f042ed56ull,
	0x0bf169b55995b8e3ull, 0x0c5f9085c9da6286ull, 0x0ccf62806a3f2df8ull, 0x0d40e3eee7de9b7full,
	0x0db4195a06c5e7aaull, 0x0e29078a68e1ab15ull, 0x0e9fb389879e4889ull, 0x0f1822a2df882b53ull,
	0x0f925a654dac03d4ull, 0x100e60a49ee3b78dull, 0x108c3b7b51a3c5a0ull, 0x110bf14c8b405645ull,
	0x118d88c64202bc72ull, 0x121108e39dc96a6cull, 0x129678ef914eaf53ull, 0x131de087ae976aacull,
	0x13a7479f39739a68ull, 0x1432b6827b68a2deull, 0x14c035da5cd1dbc2ull, 0x154fceb04780c9e3ull,
	0x15e18a7257ad16c3ull, 0x167572f7e0968c4aull, 0x170b92864adb078full, 0x17a3f3d653319dc7ull,
	0x183ea219b0fd7714ull, 0x18dba9012d00e2b8ull, 0x197b14c33166f3c8ull, 0x1a1cf222dd631315ull,
	0x1ac14e77a7ce6eebull, 0x1b6837b59d77b614ull, 0x1c11bc76494f8115ull, 0x1cbdec02564178f4ull,
	0x1d6cd65bfc66ff5eull, 0x1e1e8c4a4d5c65f5ull, 0x1ed31f6575e7a9b1ull, 0x1f8aa2240ddaf943ull,
	0x204527e9923bf771ull, 0x2102c516294b29c9ull, 0x21c38f17d420ee7aull, 0x22879c7d364e001full,
	0x234f050a2160e2f0ull, 0x2419e1ce18810fdbull, 0x24e84d3d07a4a04eull, 0x25ba634a726e5d1full,
	0x2690418768bb85c6ull, 0x276a07439a9a76c9ull, 0x2847d5b1f325aabdull, 0x2929d01131fdb955ull,
	0x2a101bd90e5ea864ull, 0x2afae0ec85b6f4aeull, 0x2bea49d21307e9edull, 0x2cde83f2ad324644ull,
	0x2dd7bfe091ee2d11ull, 0x2ed631a71327cad3ull, 0x2fda1124d6e233acull, 0x30e39a72413cc63dull,
	0x31f30e56182efc9bull, 0x3308b2cadd747fdfull, 0x3424d397e2ca6767ull, 0x3547c301c6b88591ull,
	0x3671da96deeedfa5ull, 0x37a37c1d2687e857ull, 0x38dd12a8a4f7d9d5ull, 0x3a1f13e307bd175aull,
	0x3b6a018f788ef9f4ull, 0x3cbe6b58c5a51e54ull, 0x3e1cf0fc008213a1ull, 0x3f8644e72f426fabull,
	0x40fb2f6b21774ef6ull, 0x427c92a9c88e2225ull, 0x440b6f78e9794320ull, 0x45a8eb859951213bull,
	0x47565922dbe4403eull, 0x49154159f282d12eull, 0x4ae77115bc2be82dull, 0x4ccf0aa9fd18cdebull,
	0x4ece9d9bf83bd7ecull, 0x50e9479fc751e8eaull, 0x5322e388bb762ff3ull, 0x55804e1752e19e55ull,
	0x5807ce73680c7cecull, 0x5ac1bbb48340b570ull, 0x5db99135b417556full, 0x60ffdb3b6e9deb5full,
	0x64adf3c262546bcbull, 0x68ee2a1f5c4ecee7ull, 0x6e10d2908b9820b8ull, 0x74d39bc387bebc2full,
	0x8000000000000000ull,
};

/**
 * spek_expo_rare() - finish a draw whose first bits lie outside their layer
 * @rng: sequence of the draw
 * @bits: first 64 random bits, for which spek_expo_is_rare() is true
 *
 * Return: exponential random number with mean 2^32, below 2^38.
 */
u64 spek_expo_rare(struct spek_rng *rng, u64 bits)
{
	for (;;) {
		u32 i = bits & (SPEK_EXPO_LAYERS - 1);
		u64 x = spek_mulhi64(bits, spek_expo_layer[i].width_q32);
		u64 height;

		if (bits < spek_expo_layer[i].inside)
			return x;
		if (!i)
			return TAIL_Q32 + spek_neg_log_q32(spek_rng_next(rng));
		height = height_q63[i] +
			 spek_rng_below(rng, height_q63[i + 1] - height_q63[i]);
		/* height < exp(-x), seen from the other side of the logarithm */
		if (spek_neg_log_q32(height << 1) > x)
			return x;
		bits = spek_rng_next(rng);
	}
}
