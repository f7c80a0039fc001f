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

# Files of all kinds that can be imported, each with the workloads that it becomes.
CORPUS: dict[str, tuple[str, list[str]]] = {
    "max in any case": (
        "sd=disk,lun=/dev/sdb,openflags=o_direct\n"
        "wd=rr,sd=disk,rdpct=100,xf=8K\n"
        "rd=top,wd=rr,iorate=MAX,el=1h,in=10\n",
        ["top"],
    ),
    "a doubled range": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=0\n"
        "rd=deep,wd=w,io=max,elapsed=30,interval=1,forth=(1-16,d)\n",
        ["deep", "deep.2", "deep.3", "deep.4", "deep.5"],
    ),
    "a stepped range": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d\nrd=rates,wd=w,iorate=(100-400,100),elapsed=30\n",
        ["rates", "rates.2", "rates.3", "rates.4"],
    ),
    "to the end": (
        "sd=d,lun=/dev/sdb,size=1g\nwd=fill,sd=d,rdpct=0,seekpct=eof,xfersize=256k\n"
        "rd=fill,wd=fill,iorate=max,elapsed=100h,threads=1\n",
        ["fill"],
    ),
    "not at block zero": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,seekpct=seqnz,xfersize=1m\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "an end of the file": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d\nrd=r,wd=w,iorate=50,elapsed=5\neof\nnotes, not parameters\n",
        ["r"],
    ),
    "this host": (
        "hd=default,shell=ssh,user=root,jvms=4,vdbench=/opt/vdbench\nhd=here,system=localhost\n"
        "sd=d,hd=here,lun=/dev/sdb,threads=32\nwd=w,sd=d,host=here\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "sequential streams": (
        "sd=d,lun=/dev/sdb,threads=16\nwd=w,sd=d,rdpct=0,seekpct=seq,streams=8,xfersize=256k\n"
        "rd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "duplicates of 8 KiB": (
        "compratio=2.5\ndedupratio=2,dedupunit=8k,dedupsets=5%,dedupflipflop=off\n"
        "sd=d,lun=/dev/sdb,size=1g\nwd=w,sd=d,rdpct=0,xfersize=8k\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "several hosts": (
        "hd=default,shell=ssh,user=root,vdbench=/opt/vdbench\nhd=one,system=10.0.0.1\n"
        "hd=two,system=10.0.0.2\nsd=default,openflags=o_direct,threads=8\n"
        "sd=sd_$host,host=$host,lun=/dev/sdb\nwd=w,sd=sd*,xfersize=8k,rdpct=70\n"
        "rd=r,wd=w,iorate=(1000,max),elapsed=60,interval=1\n",
        ["r", "r.2"],
    ),
    "a shared device": (
        "hd=one,system=far\nhd=two,system=further\nsd=s,lun=/dev/mapper/lun,threads=32\n"
        "wd=w,sd=s,seekpct=100\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "counted devices": (
        "sd=vol,lun=/dev/mapper/lun,count=(1,4)\nwd=w,sd=vol*,seekpct=seq\n"
        "rd=r,wd=w,iorate=max,forthreads=(2)\n",
        ["r"],
    ),
    "numbers in the middle": (
        "sd=s%02dx,lun=/dev/disk-*-part,count=(8,2)\nwd=w,sd=(s08x,s09x)\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "a curve": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,xfersize=8192\n"
        "rd=r,wd=w,iorate=curve,curve=(25,50,75),elapsed=60,interval=5\n",
        ["r", "r-25pct", "r-50pct", "r-75pct"],
    ),
    "a share of the highest rate": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d\nrd=most,wd=w,iorate=max\nrd=part,wd=w,iorate=(30%,60%)\n",
        ["most", "part", "part.2"],
    ),
    "an amount": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=0,xfersize=64k\n"
        "rd=r,wd=w,iorate=max,elapsed=600,maxdata=100g\n",
        ["r"],
    ),
    "an amount in devices": (
        "sd=a,lun=/dev/sdb,size=256m\nsd=b,lun=/dev/sdc,size=256m\n"
        "rd=prefill,sd=(a,b),elapsed=10h,maxdata=2,iorate=max,xfersize=1m,rdpct=0,seekpct=0\n",
        ["prefill"],
    ),
    "strides": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,xfersize=4k,stride=(60k,60k)\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "devices of their own": (
        "sd=data1,lun=/dev/sdb\nsd=data2,lun=/dev/sdc\nsd=log,lun=/dev/sdd\n"
        "wd=db,sd=data*,xfersize=8k,rdpct=70,skew=75\n"
        "wd=log,sd=log,xfersize=4k,rdpct=0,seekpct=0\n"
        "rd=r,wd=*,iorate=2000,elapsed=60\n",
        ["r", "r.2"],
    ),
    "compression": (
        "compratio=4\nsd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=0\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "compression in a loop": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=50\nrd=r,wd=w,iorate=max,forcompratio=(1,2)\n",
        ["r", "r.2"],
    ),
    "duplicates": (
        "dedupratio=2\ndedupunit=4k\ndedupsets=5%\n"
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=0\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "hits": (
        "sd=d,lun=/dev/sdb,hitarea=16m\nwd=w,sd=d,rdpct=70,rhpct=50,whpct=20\n"
        "rd=r,wd=w,iorate=1000\n",
        ["r"],
    ),
    "many lines": (
        "# hosts\nhd=localhost\n/ storage\nsd=default,\n  threads=4,   of each\n  size=256m\n"
        "sd=one,\nlun=/dev/sdb\nsd=two\nlun=/dev/sdc\n* load\nwd=default,rdpct=60\nsd=*\n"
        "wd=w\nxfersize=16k\nrd=default,iorate=max\nrd=r\nwd=w\nelapsed=20\n",
        ["r"],
    ),
    "short names": (
        "sd=d,lu=/dev/sdb,th=16,op=o_direct,si=1g\n"
        "wd=w,sd=d,re=30,xf=4k,se=ra,ra=(0,50)\nrd=r,wd=w,io=500,di=det,wa=5,pa=10,el=60\n",
        ["r"],
    ),
    "loops in loops": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d\n"
        "rd=r,wd=w,forxfersize=(4k,8k),iorate=(10,20),forrdpct=(0,100),elapsed=5\n",
        ["r", *(f"r.{number}" for number in range(2, 9))],
    ),
    "ranges of names": (
        "sd=sd101,lun=/dev/sdb\nsd=sd102,lun=/dev/sdc\nsd=sd103,lun=/dev/sdd\n"
        "wd=mix_a,sd=sd*,rdpct=20,skew=25\nwd=mix_b,sd=sd*,rdpct=80,skew=75,seekpct=0\n"
        "rd=r,wd=mix*,sd=(sd101-sd103),iorate=max,elapsed=240,interval=2,forthreads=4\n",
        ["r"],
    ),
    "sizes alike": (
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,xfersize=(4k,16k,4k)\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "synchronous": (
        "sd=d,lun=/dev/sdb,openflags=(o_direct,o_sync,fsync)\nwd=w,sd=d,wrpct=30\n"
        "rd=r,wd=w,iorate=max\n",
        ["r"],
    ),
    "data to check": (
        "data_error=5\nvalidate=yes\nmessagescan=no\nreport=host_detail\n"
        "sd=d,lun=/dev/sdb\nwd=w,sd=d,rdpct=50\nrd=r,wd=w,iorate=max\n",
        ["r"],
    ),
}
