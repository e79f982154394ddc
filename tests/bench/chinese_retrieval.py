"""Chinese and mixed text: 72 facts among 2,400 lines of near noise, asked for in five ways.

Run as `PYTHONPATH=tests python -m bench.chinese_retrieval`; prints one JSON object: recall
among the first five for each way of asking, the mean reciprocal rank, and the milliseconds of a
query. The lines are made here from lists of words, the same at each run.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.retrieval_adapter import Adapter
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now


def _words(text: str) -> list[str]:
    return text.split()


SEED = 20
NOISE_LINES = 2_400
FIRST = 5
PEOPLE = _words("陈曦 林涛 赵敏 周航 吴桐 郑爽 孙悦 何苗 高远 罗兰 梁博 谢宁")
PLACES = _words("仓库 机房 会议室 花园 车站 码头 食堂 画廊 操场 阁楼 地下室 天台")
THINGS = _words("报表 合同 图纸 钥匙 相机 样品 账单 手册 模型 日志 证书 清单")
ACTS = _words("整理 检查 修改 打印 归档 翻译 上传 备份 核对 分发 收集 删除")
MOODS = _words("有点累 很顺利 不太行 还可以 挺麻烦 没问题 再等等 先这样 真不错 太晚了")

# (the telling word of two characters, of three, a question about it, a Latin name or "")
FACTS = [
    ("过敏", "花生酱", "对什么过敏", "epipen"),
    ("吉他", "木吉他", "弹什么乐器", "fender"),
    ("骑马", "跑马场", "去哪里骑马", ""),
    ("潜水", "潜水证", "拿到了什么潜水证", "padi"),
    ("火锅", "牛油锅", "爱吃哪种火锅", ""),
    ("围棋", "围棋赛", "参加了什么围棋赛", "katago"),
    ("陶艺", "陶艺课", "报了什么陶艺课", ""),
    ("滑雪", "滑雪板", "买了哪种滑雪板", "burton"),
    ("摄影", "胶卷机", "用什么摄影", "leica"),
    ("搬家", "江北区", "搬家到哪个区", ""),
    ("缓存", "缓存层", "缓存层换成了什么", "redis"),
    ("编译", "编译器", "编译器升级到哪个版本", "clang"),
    ("迁移", "数据库", "数据库迁移到哪里", "postgres"),
    ("证书", "根证书", "根证书什么时候过期", "openssl"),
    ("端口", "端口号", "网关的端口号是多少", "nginx"),
    ("回滚", "回滚点", "回滚点设在哪里", "helm"),
    ("监控", "监控台", "监控台看什么指标", "grafana"),
    ("限流", "限流器", "限流器的上限是多少", "envoy"),
    ("咖啡", "手冲壶", "用什么冲咖啡", "v60"),
    ("钢琴", "钢琴谱", "在练哪首钢琴谱", "chopin"),
    ("签证", "签证官", "签证官问了什么", ""),
    ("牙医", "牙医馆", "预约了哪天看牙医", ""),
    ("帐篷", "双人帐", "借了谁的帐篷", "msr"),
    ("毕业", "毕业照", "毕业照在哪里拍", ""),
]


@dataclass(frozen=True)
class Fact:
    """One line and the queries that ask for it."""

    record_id: str
    speaker: str
    text: str
    queries: dict[str, str]


def make_facts(chance: random.Random) -> list[Fact]:
    """Three facts of each kind, by different people, each told apart by a place and a thing."""
    facts = []
    for number in range(3 * len(FACTS)):
        short, long, question, latin = FACTS[number % len(FACTS)]
        who = PEOPLE[(number + number // len(FACTS) * 5) % len(PEOPLE)]
        mark = f"{chr(0x6A00 + number)}{chr(0x7100 + number)}{chr(0x8300 + number)}"
        tail = f"用{latin}{number}做的" if latin else ""
        text = f"{who}说{short}的事定了,{long}选了{mark},{tail}{question.replace('什么', '这')}。"
        queries = {
            "two": mark[:2],
            "three": mark,
            "question": f"{who}{question},是不是{mark[1:]}?",
            "name": f"{who} {mark[:2]}",
        }
        if latin:
            queries["latin"] = f"{latin}{number}"
        facts.append(Fact(f"fact{number}", chance.choice(PEOPLE), text, queries))
    return facts


def make_noise(chance: random.Random, number: int) -> tuple[str, str]:
    """A speaker and a line that shares people, topics and questions with the facts."""
    short, long, question, _ = chance.choice(FACTS)
    lines = [
        (
            f"{chance.choice(PEOPLE)}在{chance.choice(PLACES)}{chance.choice(ACTS)}{chance.choice(THINGS)},"
            f"{chance.choice(MOODS)}"
        ),
        f"{chance.choice(PEOPLE)}今天没提{short},{chance.choice(MOODS)}",
        f"{long}的{chance.choice(THINGS)}放在{chance.choice(PLACES)}了",
        f"{chance.choice(PEOPLE)}{question}来着?第{number}次问了",
    ]
    return chance.choice(PEOPLE), chance.choice(lines)


def measure(adapter: Adapter) -> dict[str, object]:
    """Write the lines, ask everything."""
    chance = random.Random(SEED)
    facts = make_facts(chance)
    lines = [(fact.record_id, fact.speaker, fact.text) for fact in facts]
    lines += [(f"noise{n}", *make_noise(chance, n)) for n in range(NOISE_LINES)]
    chance.shuffle(lines)
    records = [
        {"id": i, "speaker": s, "text": t, "at": f"2026-01-{1 + n * 28 // len(lines):02}T09:00:00"}
        for n, (i, s, t) in enumerate(lines)
    ]
    adapter.ingest("zh", records)
    adapter.search("zh", "猫", 1)
    ranks: dict[str, list[int]] = {}
    took: list[float] = []
    for fact in facts:
        for way, query in fact.queries.items():
            began = time.perf_counter()
            found = adapter.search("zh", query, 100)["ids"]
            took.append((time.perf_counter() - began) * 1_000)
            rank = found.index(fact.record_id) + 1 if fact.record_id in found else 0
            ranks.setdefault(way, []).append(rank)
    return _figures(ranks, took)


def _figures(ranks: dict[str, list[int]], took: list[float]) -> dict[str, object]:
    def share(given: list[int]) -> float:
        return round(sum(1 for rank in given if 0 < rank <= FIRST) / len(given), 3)

    every = [rank for given in ranks.values() for rank in given]
    return {
        "recall@5": {way: share(given) for way, given in ranks.items()} | {"all": share(every)},
        "mrr": round(sum(1 / rank for rank in every if rank) / len(every), 3),
        "p50_ms": round(sorted(took)[len(took) // 2], 2),
        "p95_ms": round(sorted(took)[int(len(took) * 0.95)], 2),
        "queries": len(every),
    }


def main() -> None:
    """Measure in a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groupx.db"
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as connection:
            print(json.dumps(measure(Adapter(connection)), ensure_ascii=False))


if __name__ == "__main__":
    main()
