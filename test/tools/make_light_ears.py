#!/usr/bin/env python3
"""Writes toy ONNX models with the names, ranks and states of published models, for tests without weights.

    make_light_ears.py OUT                            the toys, their input, and the golden of features
    make_light_ears.py --real tiny|small|medium OUT   graphs of the size of Moonshine, with random weights

It needs numpy and onnx (Debian 12: python3-onnx 1.12). It draws from RandomState only, so that every machine
writes the same bytes. Some weights of the toys are set by hand, so that their texts are known.
"""

import os
import sys

import numpy as np

from moonshine_graphs import RATE, Moonshine
from onnx_graph import F, Graph


def tokenizer_bytes(entries):
    """One or two bytes of length, then the bytes of the token. From 128: 128 + n % 128, then n / 128."""
    out = bytearray()
    for entry in entries:
        n = len(entry)
        out += bytes([n]) if n < 128 else bytes([128 + n % 128, n // 128])
        out += entry
    return bytes(out)


def vocabulary(words, size):
    """0-3 special, 4-259 the single bytes, then pieces; a long and an empty one for the reader."""
    entries = [b"<unk>", b"<s>", b"</s>", b"<sil>"] + [bytes([n]) for n in range(256)]
    entries += [w.encode() for w in words]
    entries += [b"a" * 300, b""]
    while len(entries) < size:
        entries.append(f"<<ST_{len(entries)}>>".encode())
    return entries[:size]


def moonshine_toys(out):
    # Toy A: as the English models of quantized_26_07_30: five graphs.
    pieces = ["▁alpha", "s", "▁bravo", "▁to", "▁char", "lie", "▁delta", ".", "▁you"]
    ids = {p: 260 + n for n, p in enumerate(pieces)}
    words = [
        (ids["▁alpha"], ids["s"]),
        (ids["▁bravo"], ids["▁to"]),
        (ids["▁char"], ids["lie"]),
        (ids["▁delta"], ids["."]),
        (ids["▁you"], ids["▁you"]),
    ]
    folder = os.path.join(out, "moonshine-a")
    Moonshine(1, 24, 16, 4, 2, 8, [(16, 4), (16, 4), (16, 4), (16, 4)], 288).write(folder, words)
    with open(os.path.join(folder, "tokenizer.bin"), "wb") as file:
        file.write(tokenizer_bytes(vocabulary(pieces, 288)))
    # Toy B: as the models of quantized_26_08_*: the frontend in two files, a character in two tokens.
    pieces = ["▁eins", "▁Stra", "▁zwei", "ße", "▁drei", "▁M", "▁du"]
    ids = {p: 260 + n for n, p in enumerate(pieces)}
    words = [
        (ids["▁eins"], ids["▁zwei"]),
        (ids["▁Stra"], ids["ße"]),
        (ids["▁drei"], ids["▁M"]),
        (4 + 0xC3, 4 + 0xBC),
        (ids["▁du"], ids["▁du"]),
    ]
    folder = os.path.join(out, "moonshine-b")
    Moonshine(2, 28, 20, 3, 2, 10, [(16, 4), (16, 4), (16, 0)], 280).write(folder, words, split=True)
    with open(os.path.join(folder, "tokenizer.bin"), "wb") as file:
        file.write(tokenizer_bytes(vocabulary(pieces, 280)))


# ---------------------------------------------------------------- end of turn


def turn_toy(out):
    """The names of turn-1-mini. The widths of the states are this toy's: read them from the graph.

    The probability rises with the silence after speech; after a bright sound it rises 0.24 s later.
    """
    g, r, heads, window, width = Graph("turn_step"), np.random.RandomState(3), 2, 60, 4
    audio = g.input("audio", F, [1, 2560])
    shapes = {
        "audio": [1, 320],
        "conv1": [1, 2, 4],
        "conv2": [1, 3, 2],
        "k": [2, 1, heads, window, width],
        "v": [2, 1, heads, window, width],
        "k_valid": [1, window],
        "h6": [1, 3],
    }
    state = {n: g.input(f"state_{n}", F, s) for n, s in shapes.items()}
    end = g.i(1 << 40)
    x = g.op("Reshape", audio, g.i(1, 8, 320))
    loud = g.op("Sqrt", g.op("ReduceMean", g.op("Mul", x, x), axes=[2], keepdims=0))  # [1, 8]
    whole = g.op("Concat", state["audio"], audio, axis=1)
    step = g.op("Sub", audio, g.slice(whole, g.i(319), g.i(2879), 1))
    step = g.op("Reshape", step, g.i(1, 8, 320))
    rough = g.op("Sqrt", g.op("ReduceMean", g.op("Mul", step, step), axes=[2], keepdims=0))
    voiced = g.op("Cast", g.op("Greater", loud, g.f(0.004)), to=F)
    bright = g.op("Cast", g.op("Greater", rough, g.op("Mul", loud, g.f(0.35))), to=F)
    pair = g.op(
        "Concat", g.op("Unsqueeze", loud, g.i(1)), g.op("Unsqueeze", rough, g.i(1)), axis=1
    )  # [1, 2, 8]
    c1 = g.op("Concat", state["conv1"], pair, axis=2)
    y = g.op(
        "Tanh",
        g.op("Conv", c1, g.w((r.standard_normal((3, 2, 5)) * 0.3).astype(np.float32)), kernel_shape=[5]),
    )
    c2 = g.op("Concat", state["conv2"], y, axis=2)
    y = g.op(
        "Tanh",
        g.op("Conv", c2, g.w((r.standard_normal((4, 3, 3)) * 0.3).astype(np.float32)), kernel_shape=[3]),
    )
    y = g.op("Transpose", y, perm=[0, 2, 1])  # [1, 8, 4]
    valid = g.slice(
        g.op("Concat", state["k_valid"], g.w(np.ones((1, 8), np.float32)), axis=1), g.i(8), end, 1
    )
    new_k, new_v, side = [], [], None
    for layer in range(2):
        project = lambda: g.op(
            "Transpose",
            g.op(
                "Reshape", g.linear(y, (r.standard_normal((4, heads * width)) * 0.4)), g.i(1, 8, heads, width)
            ),
            perm=[0, 2, 1, 3],
        )
        q, k, v = project(), project(), project()
        old = lambda n: g.op("Gather", state[n], g.w(np.array(layer, np.int64)), axis=0)
        k = g.slice(g.op("Concat", old("k"), k, axis=2), g.i(8), end, 2)
        v = g.slice(g.op("Concat", old("v"), v, axis=2), g.i(8), end, 2)
        new_k.append(g.op("Unsqueeze", k, g.i(0)))
        new_v.append(g.op("Unsqueeze", v, g.i(0)))
        # Frame f of 8 sees the frames up to itself that are there.
        causal = np.triu(np.full((8, window), -1e9, np.float32), window - 7)
        hole = g.op("Mul", g.op("Sub", g.f(1), g.op("Unsqueeze", valid, g.i(1, 2))), g.f(-1e9))
        score = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.f(width**-0.5))
        score = g.op("Softmax", g.op("Add", g.op("Add", score, g.w(causal)), hole), axis=-1)
        y = g.op(
            "Add",
            y,
            g.linear(
                g.op(
                    "Reshape",
                    g.op("Transpose", g.op("MatMul", score, v), perm=[0, 2, 1, 3]),
                    g.i(1, 8, heads * width),
                ),
                r.standard_normal((heads * width, 4)) * 0.3,
            ),
        )
    side = g.op("Squeeze", g.linear(g.op("Tanh", y), r.standard_normal((4, 1)) * 0.1), g.i(2))  # [1, 8]
    parts = lambda t: [g.slice(t, g.i(n), g.i(n + 1), 1) for n in range(8)]
    silence, spoke, light = (g.slice(state["h6"], g.i(n), g.i(n + 1), 1) for n in range(3))
    found, after = [], []
    for v, b in zip(parts(voiced), parts(bright)):
        quiet = g.op("Sub", g.f(1), v)
        silence = g.op("Mul", g.op("Add", silence, g.f(1)), quiet)
        spoke = g.op("Max", spoke, v)
        after.append(spoke)
        light = g.op("Add", g.op("Mul", light, quiet), g.op("Mul", b, v))
        found.append(g.op("Sub", silence, g.op("Mul", light, g.f(12))))
    score = g.op("Add", g.op("Div", g.op("Sub", g.op("Concat", *found, axis=1), g.f(14)), g.f(4)), side)
    probs = g.op("Mul", g.op("Sigmoid", score), g.op("Concat", *after, axis=1))
    g.output("probs", F, [8], g.op("Reshape", probs, g.i(8)))
    last = {
        "audio": g.slice(whole, g.i(-320), end, 1),
        "conv1": g.slice(c1, g.i(-4), end, 2),
        "conv2": g.slice(c2, g.i(-2), end, 2),
        "k": g.op("Concat", *new_k, axis=0),
        "v": g.op("Concat", *new_v, axis=0),
        "k_valid": valid,
        "h6": g.op("Concat", silence, spoke, light, axis=1),
    }
    for n, s in shapes.items():
        g.output(f"new_state_{n}", F, s, last[n])
    os.makedirs(os.path.join(out, "turn-1-mini"), exist_ok=True)
    g.save(os.path.join(out, "turn-1-mini", "turn-1-mini.step.onnx"))


def smart_turn_toy(out):
    """The names of Smart Turn v3: 80 mels of 8 s in, a probability out: high if the end is quieter."""
    g = Graph("smart_turn")
    x = g.input("input_features", F, ["batch_size", 80, 800])
    mean = lambda a, b: g.op("ReduceMean", g.slice(x, g.i(a), g.i(b), 2), axes=[1, 2], keepdims=0)
    fall = g.op("Sub", mean(600, 770), mean(780, 800))
    tilt = g.op(
        "Sub",
        g.op(
            "ReduceMean",
            g.slice(g.slice(x, g.i(40), g.i(80), 1), g.i(600), g.i(770), 2),
            axes=[1, 2],
            keepdims=0,
        ),
        g.op(
            "ReduceMean",
            g.slice(g.slice(x, g.i(0), g.i(40), 1), g.i(600), g.i(770), 2),
            axes=[1, 2],
            keepdims=0,
        ),
    )
    y = g.op("Sub", g.op("Mul", g.f(6), fall), g.op("Add", g.f(1), g.op("Mul", g.f(4), tilt)))
    g.output("logits", F, ["batch_size", 1], g.op("Unsqueeze", g.op("Sigmoid", y), g.i(1)))
    os.makedirs(os.path.join(out, "smart-turn"), exist_ok=True)
    g.save(os.path.join(out, "smart-turn", "smart-turn-v3.2-cpu.onnx"))


# ---------------------------------------------------------------- features outside the graphs, for goldens


def slaney(count, fft):
    to_mel = lambda f: np.where(
        f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1) / 1000) * 27 / np.log(6.4)
    )
    to_hz = lambda m: np.where(m < 15, m * 200 / 3, 1000 * np.exp((m - 15) * np.log(6.4) / 27))
    points = to_hz(np.linspace(0, to_mel(np.float64(RATE / 2)), count + 2))
    bins = np.linspace(0, RATE / 2, fft // 2 + 1)
    rise = (bins[None] - points[:-2, None]) / (points[1:-1] - points[:-2])[:, None]
    fall = (points[2:, None] - bins[None]) / (points[2:] - points[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall)) * (2 / (points[2:] - points[:-2]))[:, None]


def whisper_mel(sound):
    """The last 8 s, zeros in front; then as Whisper's extractor with do_normalize: [80, 800]."""
    x = np.zeros(128000, np.float32)
    x[128000 - min(len(sound), 128000) :] = sound[-128000:]
    x = ((x - x.mean()) / np.sqrt(x.var() + 1e-7)).astype(np.float64)
    x = np.pad(x, 200, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    frames = np.stack([x[160 * n : 160 * n + 400] for n in range(800)]) * window
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    log = np.log10(np.maximum(1e-10, slaney(80, 400) @ power.T))
    return ((np.maximum(log, log.max() - 8) + 4) / 4).astype(np.float32)


def signals(out):
    """Inputs of the goldens, s16le 16 kHz mono. Whole numbers, so that no platform's sine differs."""

    def tone(hz, seconds, level=0.3):
        n = np.arange(int(seconds * RATE))
        return level * np.sin(2 * np.pi * hz * n / RATE)

    def quiet(seconds):
        return np.zeros(int(seconds * RATE))

    speech = np.concatenate(
        [
            tone(300, 0.8),
            tone(1200, 0.4),
            quiet(0.4),
            tone(600, 0.8),
            tone(2400, 0.4),
            tone(300, 0.2),
            tone(600, 0.2),
            quiet(0.6),
        ]
    )
    loop = np.concatenate([tone(300, 0.4), tone(3900, 1.2)])
    umlaut = np.concatenate([tone(300, 0.4), tone(600, 0.4), tone(2400, 0.8), tone(600, 0.8), quiet(0.4)])
    turn = np.concatenate(
        [quiet(0.3), tone(200, 1.0), quiet(0.3), tone(200, 0.5), tone(2400, 0.5), quiet(0.9)]
    )
    os.makedirs(os.path.join(out, "input"), exist_ok=True)
    for name, sound in (("speech", speech), ("loop", loop), ("turn", turn), ("umlaut", umlaut)):
        data = np.rint(sound * 32767).astype("<i2")
        data.tofile(os.path.join(out, "input", name + ".s16"))


def feature_golden(out):
    sound = np.fromfile(os.path.join(out, "input", "turn.s16"), "<i2").astype(np.float32) / 32768
    whisper_mel(sound).astype("<f4").tofile(os.path.join(out, "golden", "whisper_mel_turn.f32"))


# Encoder width, decoder width, layers, heads, width of a head.
SIZES = {
    "tiny": (320, 320, 6, 8, 40),
    "small": (620, 512, 10, 8, 64),
    "medium": (768, 640, 14, 10, 64),
}


def write_full_size(size, folder):
    *dims, depth, heads, head_dim = SIZES[size]
    windows = [(16, 4), (16, 4)] + [(16, 0)] * (depth - 4) + [(16, 4), (16, 4)]
    shape = (*dims, depth, heads, head_dim, windows, 32768)
    Moonshine(7, *shape, hand=False, quantised=True, positions=4096).write(folder)


def write_toys(out):
    os.makedirs(os.path.join(out, "golden"), exist_ok=True)
    moonshine_toys(out)
    turn_toy(out)
    smart_turn_toy(out)
    signals(out)
    feature_golden(out)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--real" and sys.argv[2] in SIZES:
        write_full_size(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        write_toys(sys.argv[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
