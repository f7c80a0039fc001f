# SPDX-License-Identifier: GPL-2.0
"""Parameter files of vdbench, and lines to put together."""

from __future__ import annotations

SD = "sd=sd1,lun=/dev/sdb\n"
WD = "wd=wd1,sd=sd1\n"
RD = "rd=run1,wd=*,iorate=100,elapsed=60\n"
OLTP = """* A database, as in the guide.
data_errors=1
hd=localhost,system=localhost
sd=default,size=10g,openflags=o_direct
sd=sd1,lun=/dev/sdb
sd=sd2,lun=/dev/sdc   and a remark
wd=default,sd=sd*,xfersize=8k
wd=data,rdpct=70,skew=80,range=(10,50)
wd=log,
   rdpct=0,seekpct=seq,
   xfersize=(4k,50,16k,50)
rd=run1,wd=*,iorate=(500,1000),elapsed=2m,warmup=30,interval=5
rd=run2,wd=data,iorate=max,elapsed=60,interval=1,forthreads=(4,16),
   forxfersize=(4k,8k)
"""
