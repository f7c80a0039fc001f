// SPDX-License-Identifier: GPL-2.0
/*
 * Integer logarithm by table and a short series.
 *
 *   u / 2^64 = 2^-(lz + 1) * x,  1 <= x < 2        (lz: leading zero bits)
 *   x * c    = 1 + z,            0 <= z < 2^-7     (c = 128 / (128 + i), i: next 7 bits)
 *   -ln u    = (lz + 1) ln 2 - ln(1/c) - ln(1 + z)
 *   ln(1+z)  = z - z^2/2 + z^3/3 - z^4/4 + less than 2^-37
 *
 * Each c is rounded up to Q63, so that z is never negative, and its logarithm
 * is that of the rounded c, in Q56, so the table adds no error of its own. The table is
 * 2 KiB; four multiplications, no division, no branch that depends on u.
 */
#include "explog.h"

#define LN2_Q56		0xb17217f7d1cf7aull
#define HALF_Q64	0x8000000000000000ull
#define THIRD_Q64	0x5555555555555555ull

struct log_entry {
	u64 c_q63;
	u64 log_q56;
};

static const struct log_entry log_table[128] = {
	{ 0x8000000000000000ull, 0x00000000000000ull },
	{ 0x7f01fc07f01fc080ull, 0x01fe02a6b10679ull },
	{ 0x7e07e07e07e07e08ull, 0x03f815161f807cull },
	{ 0x7d1196792909c560ull, 0x05ee46c1f56c47ull },
	{ 0x7c1f07c1f07c1f08ull, 0x07e0a6c39e0cc0ull },
	{ 0x7b301ecc07b301edull, 0x09cf43dcff5eb0ull },
	{ 0x7a44c6afc2dd9ca9ull, 0x0bba2c7b196e7eull },
	{ 0x795ceb240795ceb3ull, 0x0da16eb88cb8dfull },
	{ 0x7878787878787879ull, 0x0f85186008b153ull },
	{ 0x77975b8fe21a291dull, 0x116536eea37ae1ull },
	{ 0x76b981dae6076b99ull, 0x1341d7961bd1d1ull },
	{ 0x75ded952e0b0ce46ull, 0x151b073f06183full },
	{ 0x7507507507507508ull, 0x16f0d28ae56b4cull },
	{ 0x7432d63dbb01d0ccull, 0x18c345d6319b21ull },
	{ 0x73615a240e6c2b45ull, 0x1a926d3a4ad563ull },
	{ 0x7292cc157b864408ull, 0x1c5e548f5bc743ull },
	{ 0x71c71c71c71c71c8ull, 0x1e27076e2af2e6ull },
	{ 0x70fe3c070fe3c071ull, 0x1fec9131dbeabbull },
	{ 0x70381c0e070381c1ull, 0x21aefcf9a11cb3ull },
	{ 0x6f74ae26501bdd2cull, 0x236e55aa5ecf40ull },
	{ 0x6eb3e45306eb3e46ull, 0x252aa5f03fea47ull },
	{ 0x6df5b0f768ce2cacull, 0x26e3f8403d1ee8ull },
	{ 0x6d3a06d3a06d3a07ull, 0x289a56d996fa3dull },
	{ 0x6c80d901b2036407ull, 0x2a4dcbc743686full },
	{ 0x6bca1af286bca1b0ull, 0x2bfe60e14f27a8ull },
	{ 0x6b15c06b15c06b16ull, 0x2dac1fce33a439ull },
	{ 0x6a63bd81a98ef607ull, 0x2f57120421b212ull },
	{ 0x69b4069b4069b407ull, 0x30ff40ca419221ull },
	{ 0x6906906906906907ull, 0x32a4b539e8ad69ull },
	{ 0x685b4fe5e92c0686ull, 0x3447783fc56ac6ull },
	{ 0x67b23a5440cf6475ull, 0x35e7929d017fe6ull },
	{ 0x670b453b92840671ull, 0x37850ce85b19acull },
	{ 0x6666666666666667ull, 0x391fef8f353443ull },
	{ 0x65c393e032e1c9f1ull, 0x3ab842d69f7723ull },
	{ 0x6522c3f35ba78195ull, 0x3c4e0edc55e5ccull },
	{ 0x6483ed274388a357ull, 0x3de15b97b8b26dull },
	{ 0x63e7063e7063e707ull, 0x3f7230dabc7c55ull },
	{ 0x634c0634c0634c07ull, 0x41009652d34103ull },
	{ 0x62b2e43dafcea68eull, 0x428c9389ce438dull },
	{ 0x621b97c2aec12653ull, 0x44162fe6b92b54ull },
	{ 0x6186186186186187ull, 0x459d72aeae9838ull },
	{ 0x60f25deacafb74a4ull, 0x47226305a667ecull },
	{ 0x6060606060606061ull, 0x48a507ef3de597ull },
	{ 0x5fd017f405fd0180ull, 0x4a25684f7a1a8dull },
	{ 0x5f417d05f417d060ull, 0x4ba38aeb8474c2ull },
	{ 0x5eb4882383b30d52ull, 0x4d1f766a61f553ull },
	{ 0x5e293205e293205full, 0x4e993155a517a7ull },
	{ 0x5d9f7390d2a6c406ull, 0x5010c21a1a9f8full },
	{ 0x5d1745d1745d1746ull, 0x51862f08717b0aull },
	{ 0x5c90a1fd1b7af018ull, 0x52f97e55dde283ull },
	{ 0x5c0b81702e05c0b9ull, 0x546ab61cb7e0b4ull },
	{ 0x5b87ddad0cdf1b2dull, 0x55d9dc5d1569b1ull },
	{ 0x5b05b05b05b05b06ull, 0x5746f6fd602729ull },
	{ 0x5a84f3454dca4110ull, 0x58b20bcae71e55ull },
	{ 0x5a05a05a05a05a06ull, 0x5a1b207a6c52bbull },
	{ 0x5987b1a9448be406ull, 0x5b823aa8ae878eull },
	{ 0x590b21642c8590b3ull, 0x5ce75fdaef401aull },
	{ 0x588fe9dc0588fe9eull, 0x5e4a957f751e8aull },
	{ 0x5816058160581606ull, 0x5fabe0ee0abf0eull },
	{ 0x579d6ee340579d6full, 0x610b47687a2c5dull },
	{ 0x572620ae4c415c99ull, 0x6268ce1b05096bull },
	{ 0x56b015ac056b015bull, 0x63c47a1cd98b1eull },
	{ 0x563b48c20563b48dull, 0x651e5070845bebull },
	{ 0x55c7b4f141ace689ull, 0x667656045f822bull },
	{ 0x5555555555555556ull, 0x67cc8fb2fe6130ull },
	{ 0x54e42523d03fab1cull, 0x6921024396ec29ull },
	{ 0x54741fab8be05475ull, 0x6a73b26a682126ull },
	{ 0x5405405405405406ull, 0x6bc4a4c91de1acull },
	{ 0x5397829cbc14e5e1ull, 0x6d13ddef323d8aull },
	{ 0x532ae21c96bdb9d4ull, 0x6e61625a4c43edull },
	{ 0x52bf5a814afd6a06ull, 0x6fad36769c6df0ull },
	{ 0x5254e78ecb419ba9ull, 0x70f75e9f36b536ull },
	{ 0x51eb851eb851eb86ull, 0x723fdf1e6a6887ull },
	{ 0x51832f1fd73e6871ull, 0x7386bc2e17cfaeull },
	{ 0x511be1958b67ebbaull, 0x74cbf9f803af56ull },
	{ 0x50b59897547e1bbfull, 0x760f9c9628bcf9ull },
	{ 0x5050505050505051ull, 0x7751a813071283ull },
	{ 0x4fec04fec04fec05ull, 0x78922069f1b098ull },
	{ 0x4f88b2f392a409f2ull, 0x79d109875a1e20ull },
	{ 0x4f265691eeaf9d11ull, 0x7b0e67491a3300ull },
	{ 0x4ec4ec4ec4ec4ec5ull, 0x7c4a3d7ebc1bb3ull },
	{ 0x4e6470b061fd8cddull, 0x7d848fe9c0a2b2ull },
	{ 0x4e04e04e04e04e05ull, 0x7ebd623de3cc7bull },
	{ 0x4da637cf781d1e55ull, 0x7ff4b8215fd261ull },
	{ 0x4d4873ecade304d5ull, 0x812a952d2e87f6ull },
	{ 0x4ceb916d5ef2c784ull, 0x825efced493693ull },
	{ 0x4c8f8d28ac42fd9cull, 0x8391f2e0e6fa02ull },
	{ 0x4c346404c346404dull, 0x84c37a7ab9a906ull },
	{ 0x4bda12f684bda130ull, 0x85f39721295416ull },
	{ 0x4b8097012e025c05ull, 0x87224c2e8e6460ull },
	{ 0x4b27ed3604b27ed4ull, 0x884f9cf16a64b8ull },
	{ 0x4ad012b404ad012cull, 0x897b8cac9f7de3ull },
	{ 0x4a7904a7904a7905ull, 0x8aa61e97a6af4dull },
	{ 0x4a22c04a22c04a23ull, 0x8bcf55dec4cd06ull },
	{ 0x49cd42e2049cd42full, 0x8cf735a33e4b76ull },
	{ 0x497889c2024bc44full, 0x8e1dc0fb89e126ull },
	{ 0x4924924924924925ull, 0x8f42faf3820682ull },
	{ 0x48d159e26af37c05ull, 0x9066e68c955b6dull },
	{ 0x487ede0487ede049ull, 0x918986bdf5fa14ull },
	{ 0x482d1c319f03621eull, 0x92aade74c7be5aull },
	{ 0x47dc11f7047dc120ull, 0x93caf0944d88d7ull },
	{ 0x478bbcecfee1d10dull, 0x94e9bff6158456ull },
	{ 0x473c1ab68a0473c2ull, 0x96074f6a24745eull },
	{ 0x46ed29011bb4a405ull, 0x9723a1b7201342ull },
	{ 0x469ee58469ee5847ull, 0x983eb99a7885f1ull },
	{ 0x46514e02328a7012ull, 0x995899c890eb8aull },
	{ 0x4604604604604605ull, 0x9a7144ece70e99ull },
	{ 0x45b81a2509cde3aeull, 0x9b88bdaa3a3daeull },
	{ 0x456c797dd49c3412ull, 0x9c9f069ab150cdull },
	{ 0x45217c382b34eda4ull, 0x9db4224fffe115ull },
	{ 0x44d72044d72044d8ull, 0x9ec813538ab7d5ull },
	{ 0x448d639d74c0cda9ull, 0x9fdadc268b7a13ull },
	{ 0x4444444444444445ull, 0xa0ec7f42339573ull },
	{ 0x43fbc043fbc043fcull, 0xa1fcff17ce733cull },
	{ 0x43b3d5af9a723f79ull, 0xa30c5e10e2f614ull },
	{ 0x436c82a23d1a5664ull, 0xa41a9e8f5446fcull },
	{ 0x4325c53ef368eb05ull, 0xa527c2ed81f5d8ull },
	{ 0x42df9bb096771e4eull, 0xa633cd7e6771ceull },
	{ 0x429a0429a0429a05ull, 0xa73ec08dbadd85ull },
	{ 0x4254fce404254fcfull, 0xa8489e600b435aull },
	{ 0x4210842108421085ull, 0xa9516932de2d57ull },
	{ 0x41cc98291fdf19b4ull, 0xaa59233ccca4bdull },
	{ 0x4189374bc6a7ef9eull, 0xab5fcead9f9ccaull },
	{ 0x41465fdf5cd01052ull, 0xac656dae6bcc4aull },
	{ 0x4104104104104105ull, 0xad6a0261acf968ull },
	{ 0x40c246d47d78693cull, 0xae6d8ee360bb24ull },
	{ 0x4081020408102041ull, 0xaf70154920b3acull },
	{ 0x4040404040404041ull, 0xb07197a23c46c6ull },
};

/**
 * spek_neg_log_q32() - minus the natural logarithm of a fraction
 * @u: fraction in units of 2^-64; 0 counts as 1 unit
 *
 * Applied to 64 random bits, the result is exponentially distributed with mean 2^32; expo.h does
 * that faster. Error: at most 0.53 units of 2^-32, half of it from rounding; 1.3e-10 of the mean.
 *
 * Return: -ln(@u / 2^64) * 2^32, rounded to nearest; 0 to 190530846196.
 */
u64 spek_neg_log_q32(u64 u)
{
	const struct log_entry *entry;
	u64 x, z, series, result;
	u32 lz;

	u += !u;
	lz = (u32)__builtin_clzll(u);
	x = u << lz;
	entry = &log_table[x >> 56 & 127];

	/* The product is 1 + z in Q62; what is left after the 1 is z, here in Q64. */
	z = (spek_mulhi64(x, entry->c_q63) - (1ull << 62)) << 2;
	series = THIRD_Q64 - (z >> 2);
	series = HALF_Q64 - spek_mulhi64(z, series);
	series = z - spek_mulhi64(z, spek_mulhi64(z, series));

	result = (lz + 1) * LN2_Q56 - entry->log_q56 - (series >> 8);
	return (result + (1u << 23)) >> 24;
}
