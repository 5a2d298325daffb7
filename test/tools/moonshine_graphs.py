"""The graphs of Moonshine streaming with made-up weights, of any size."""

import json
import os

import numpy as np

from onnx_graph import F, I64, Graph

RATE, FRAME = 16000, 80
TONES = [300.0, 600.0, 1200.0, 2400.0, 3900.0]


class Moonshine:
    def __init__(
        self,
        seed,
        encoder,
        decoder,
        depth,
        heads,
        head_dim,
        windows,
        vocabulary,
        hand=True,
        quantised=False,
        positions=1024,
    ):
        self.r = np.random.RandomState(seed)
        self.e, self.d, self.L, self.h, self.hd, self.windows = (
            encoder,
            decoder,
            depth,
            heads,
            head_dim,
            windows,
        )
        self.V, self.hand, self.q, self.positions = vocabulary, hand, quantised, positions

    def rand(self, *shape, scale=0.15):
        return (self.r.standard_normal(shape) * scale).astype(np.float32)

    def beside(self, weight):
        """By hand: the random layers of the encoder hardly write to the channels of the tones."""
        if self.hand:
            weight[:, :8] *= 0.05
        return weight

    def config(self):
        e = self.e
        return {
            "encoder_dim": e,
            "decoder_dim": self.d,
            "depth": self.L,
            "nheads": self.h,
            "head_dim": self.hd,
            "vocab_size": self.V,
            "bos_id": 1,
            "eos_id": 2,
            "frame_len": FRAME,
            "total_lookahead": sum(right for _, right in self.windows),
            "d_model_frontend": e,
            "c1": 2 * e,
            "c2": e,
            "frontend_state_shapes": {
                "sample_buffer": [1, 79],
                "sample_len": [1],
                "conv1_buffer": [1, e, 4],
                "conv2_buffer": [1, 2 * e, 4],
                "frame_count": [1],
            },
        }

    def frontend_weights(self):
        e = self.e
        linear, conv1, conv2 = (
            self.rand(FRAME, e, scale=0.05),
            self.rand(2 * e, e, 5, scale=0.02),
            self.rand(e, 2 * e, 5, scale=0.02),
        )
        bias1, bias2 = np.zeros(2 * e, np.float32), np.zeros(e, np.float32)
        if self.hand:
            t = np.arange(FRAME) / RATE
            for n, hz in enumerate(TONES):
                for k, wave in enumerate([np.cos, np.sin]):
                    column = wave(2 * np.pi * hz * t) / 8
                    linear[:, 4 * n + 2 * k], linear[:, 4 * n + 2 * k + 1] = column, -column
            conv1[:8], conv2[:8] = 0, 0
            for n in range(5):  # the four rows of a tone add up to about its magnitude
                conv1[n, 4 * n : 4 * n + 4, :] = 0.05
                conv2[n, n, :] = 0.4
            bias2[5] = 0.35  # silence is what is left when no tone is there
        return linear, conv1, bias1, conv2, bias2

    def frontend(self, folder, split=False):
        e, g = self.e, Graph("frontend")
        linear, conv1, bias1, conv2, bias2 = self.frontend_weights()
        audio = g.input("audio_chunk", F, [1, "chunk_len"])
        buffer, length = g.input("sample_buffer", F, [1, 79]), g.input("sample_len", I64, [1])
        buffer1, buffer2 = g.input("conv1_buffer", F, [1, e, 4]), g.input("conv2_buffer", F, [1, 2 * e, 4])
        count = g.input("frame_count", I64, [1])
        weights = {
            "frontend.linear.weight": linear,
            "frontend.conv1.weight": conv1,
            "frontend.conv2.weight": conv2,
        }
        if split:  # the large weights are inputs; another graph without inputs gives them
            names = [g.input(name, F, list(value.shape)) for name, value in weights.items()]
            self.weight_graph(weights, os.path.join(folder, "frontend.weights.onnx"))
        else:
            names = [g.w(value, name) for name, value in weights.items()]
        samples = g.op("Concat", g.slice(buffer, g.i(0), length, 1), audio, axis=1)
        total = g.dim(samples, 1)
        frames = g.op("Div", total, g.i(FRAME))
        used = g.op("Mul", frames, g.i(FRAME))
        x = g.op(
            "Reshape",
            g.slice(samples, g.i(0), used, 1),
            g.op("Concat", g.i(1), frames, g.i(FRAME), axis=0),
            allowzero=1,
        )
        mean = g.op("ReduceMean", x, axes=[-1], keepdims=1)
        x = g.op("Sub", x, mean)
        power = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1], keepdims=1)
        x = g.op("Div", x, g.op("Sqrt", g.op("Add", power, g.f(1e-6))))
        x = g.op("Asinh", g.op("Mul", x, g.f(np.exp(0.5))))
        x = g.op("Transpose", g.silu(g.op("MatMul", x, names[0])), perm=[0, 2, 1])
        in1 = g.op("Concat", buffer1, x, axis=2)
        y = g.silu(g.op("Conv", in1, names[1], g.w(bias1), strides=[2], kernel_shape=[5]))
        in2 = g.op("Concat", buffer2, y, axis=2)
        z = g.op("Conv", in2, names[2], g.w(bias2), strides=[2], kernel_shape=[5])
        end = g.i(1 << 40)
        rest = g.slice(samples, used, end, 1)
        g.output("features", F, [1, "feat_len", e], g.op("Transpose", z, perm=[0, 2, 1]))
        padded = g.op("Concat", rest, g.w(np.zeros((1, 79), np.float32)), axis=1)
        g.output("sample_buffer_out", F, [1, 79], g.slice(padded, g.i(0), g.i(79), 1))
        g.output("sample_len_out", I64, [1], g.op("Sub", total, used))
        g.output("conv1_buffer_out", F, [1, e, 4], g.slice(in1, g.i(-4), end, 2))
        g.output("conv2_buffer_out", F, [1, 2 * e, 4], g.slice(in2, g.i(-4), end, 2))
        g.output("frame_count_out", I64, [1], g.op("Add", count, frames))
        g.save(os.path.join(folder, "frontend.model.onnx" if split else "frontend.onnx"))

    def weight_graph(self, weights, path):
        """Per channel int8 and a scale, made float32 by the graph: what the published pair does."""
        g = Graph("frontend_weights")
        for name, value in weights.items():
            axes = tuple(range(1, value.ndim)) if value.ndim == 3 else (0,)
            scale = np.abs(value).max(axis=axes, keepdims=True).astype(np.float32) / 127 + 1e-9
            packed = np.clip(np.rint(value / scale), -127, 127).astype(np.int8)
            g.output(
                name,
                F,
                list(value.shape),
                g.op("Mul", g.op("Cast", g.w(packed), to=F), g.w(scale.astype(np.float32))),
            )
        g.save(path)

    def encoder(self, folder):
        e, h, hd, g = self.e, self.h, self.hd, Graph("encoder")
        x = g.input("features", F, [1, "feat_len", e])
        length = g.dim(x, 1)
        at = g.range(g.i(0), length)
        distance = g.op("Sub", g.op("Unsqueeze", at, g.i(1)), g.op("Unsqueeze", at, g.i(0)))
        masks, small = {}, 0.05 if self.hand else 0.15
        for left, right in self.windows:
            if (left, right) not in masks:
                near = g.op(
                    "And",
                    g.op("LessOrEqual", distance, g.i(left)),
                    g.op("GreaterOrEqual", distance, g.i(-right)),
                )
                masks[left, right] = g.op("Where", near, g.f(0), g.f(-1e9))
            y = g.norm(x, e)
            split = lambda v: g.op("Transpose", g.op("Reshape", v, g.i(1, -1, h, hd)), perm=[0, 2, 1, 3])
            q, k, v = (split(g.linear(y, self.rand(e, h * hd), self.q)) for _ in range(3))
            score = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.f(hd**-0.5))
            score = g.op("Softmax", g.op("Add", score, masks[left, right]), axis=-1)
            y = g.op(
                "Reshape", g.op("Transpose", g.op("MatMul", score, v), perm=[0, 2, 1, 3]), g.i(1, -1, h * hd)
            )
            x = g.op("Add", x, g.linear(y, self.beside(self.rand(h * hd, e, scale=small)), self.q))
            y = g.linear(g.norm(x, e), self.rand(e, 4 * e if not self.hand else 2 * e), self.q)
            y = g.op(
                "Mul",
                y,
                g.op("Mul", g.f(0.5), g.op("Add", g.f(1), g.op("Erf", g.op("Mul", y, g.f(2**-0.5))))),
            )
            x = g.op(
                "Add",
                x,
                g.linear(
                    y, self.beside(self.rand(4 * e if not self.hand else 2 * e, e, scale=small / 2)), self.q
                ),
            )
        g.output(
            "encoded", F, [1, "feat_len", e], g.norm(x, e, 2 if self.hand else 0)
        )  # the adapter puts the place there
        g.save(os.path.join(folder, "encoder.onnx"))

    def adapter(self, folder):
        e, d, g = self.e, self.d, Graph("adapter")
        x, offset = g.input("encoded", F, [1, "enc_len", e]), g.input("pos_offset", I64, [1])
        table, proj = self.rand(self.positions, e, scale=0.02), self.rand(e, d, scale=0.1)
        if self.hand:
            place = (np.arange(self.positions) + 0.5) / 20  # 20 frames of 20 ms are a word
            table[:, :8], table[:, e - 2], table[:, e - 1] = 0, place, place**2
            proj[:, :8], proj[e - 2 :] = 0, 0
            for n in range(6):
                proj[n, n] = 1
            proj[e - 2, 6], proj[e - 1, 7] = 1, 1
        at = g.range(offset, g.op("Add", offset, g.dim(x, 1)))
        y = g.op("Add", x, g.op("Unsqueeze", g.op("Gather", g.w(table), at, axis=0), g.i(0)))
        g.output("memory", F, [1, "enc_len", d], g.linear(y, proj, self.q))
        g.save(os.path.join(folder, "adapter.onnx"))

    def cross_kv(self, folder):
        d, h, hd, g = self.d, self.h, self.hd, Graph("cross_kv")
        memory = g.input("memory", F, [1, "mem_len", d])
        keys, values = [], []
        for layer in range(self.L):
            k, v = self.rand(d, h * hd), self.rand(d, h * hd)
            if self.hand:  # the place is far above 1: only layer 0 sees it
                k[6:8], v[6:8] = 0, 0
                if layer == 0:
                    k[:], v[:] = 0, 0
                    k[6, 0], k[7, 1], k[6, hd] = 1, 1, 1  # head 0: place and its square; head 1: place
                    for n in range(6):
                        v[n, n] = 1
                    v[6, hd] = 1
            for weight, target in ((k, keys), (v, values)):
                y = g.op(
                    "Transpose",
                    g.op("Reshape", g.linear(memory, weight, self.q), g.i(1, -1, h, hd)),
                    perm=[0, 2, 1, 3],
                )
                target.append(g.op("Unsqueeze", y, g.i(0)))
        for name, target in (("k_cross", keys), ("v_cross", values)):
            g.output(name, F, [self.L, 1, h, "mem_len", hd], g.op("Concat", *target, axis=0))
        g.save(os.path.join(folder, "cross_kv.onnx"))

    def decoder(self, folder, words=None):
        d, h, hd, L, V, g = self.d, self.h, self.hd, self.L, self.V, Graph("decoder_kv")
        token = g.input("token", I64, [1, "token_len"])
        k_self, v_self = (g.input(n, F, [L, 1, h, "cache_len", hd]) for n in ("k_self", "v_self"))
        k_cross, v_cross = (g.input(n, F, [L, 1, h, "mem_len", hd]) for n in ("out_k_cross", "out_v_cross"))
        embed = self.rand(V, d, scale=0.3)
        if self.hand:
            embed[:, :9] = 0
        if self.q:
            scale = (np.abs(embed).max() / 127).astype(np.float32)
            rows = g.op("Gather", g.w(np.rint(embed / scale).astype(np.int8)), token, axis=0)
            x = g.op("Mul", g.op("Cast", rows, to=F), g.f(scale))
        else:
            x = g.op("Gather", g.w(embed), token, axis=0)
        count, past = g.dim(token, 1), g.dim(k_self, 3)
        total = g.op("Add", past, count)
        q_at, k_at = g.range(past, total), g.range(g.i(0), total)
        later = g.op("Less", g.op("Unsqueeze", q_at, g.i(1)), g.op("Unsqueeze", k_at, g.i(0)))
        mask = g.op("Where", later, g.f(-1e9), g.f(0))
        at = g.op("Unsqueeze", g.op("Cast", q_at, to=F), g.i(0, 2))  # [1, S, 1]
        if self.hand:  # channel 7: the place of the token
            place = np.zeros((1, d), np.float32)
            place[0, 7] = 1
            x = g.op("Add", x, g.op("Mul", at, g.w(place)))
        split = lambda v: g.op("Transpose", g.op("Reshape", v, g.i(1, -1, h, hd)), perm=[0, 2, 1, 3])
        join = lambda v: g.op("Reshape", g.op("Transpose", v, perm=[0, 2, 1, 3]), g.i(1, -1, h * hd))
        attend = lambda q, k, v, m: join(
            g.op(
                "MatMul",
                g.op(
                    "Softmax",
                    (lambda s: s if m is None else g.op("Add", s, m))(
                        g.op(
                            "Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.f(hd**-0.5)
                        )
                    ),
                    axis=-1,
                ),
                v,
            )
        )

        def out(rows, scale):  # by hand: the random layers write behind channel 8 only
            weight = self.rand(rows, d, scale=scale)
            if self.hand:
                weight[:, :9] = 0
            return weight

        keys, values = [], []
        for layer in range(L):
            y = g.norm(x, d)
            q, k, v = (split(g.linear(y, self.rand(d, h * hd), self.q)) for _ in range(3))
            if not self.hand:  # as much work as the rotary embedding
                turn = g.op(
                    "Unsqueeze", g.op("Mul", at, g.w(self.r.uniform(0, 1, hd).astype(np.float32))), g.i(1)
                )
                q, k = (
                    g.op("Add", g.op("Mul", v0, g.op("Cos", turn)), g.op("Mul", v0, g.op("Sin", turn)))
                    for v0 in (q, k)
                )
            old = lambda cache: g.op("Gather", cache, g.w(np.array(layer, np.int64)), axis=0)
            k, v = g.op("Concat", old(k_self), k, axis=2), g.op("Concat", old(v_self), v, axis=2)
            keys.append(g.op("Unsqueeze", k, g.i(0)))
            values.append(g.op("Unsqueeze", v, g.i(0)))
            x = g.op("Add", x, g.linear(attend(q, k, v, mask), out(h * hd, 0.3), self.q))
            if self.hand and layer == 0:
                gain = 20 * hd**0.5  # the place of token p is p + 0.5: a hill of 0.4 s around it
                base = np.zeros((1, h * hd), np.float32)
                base[0, 0], base[0, 1], base[0, hd] = gain, -gain, gain  # 2·gain·0.5 = gain
                slope = np.zeros((1, h * hd), np.float32)
                slope[0, 0] = 2 * gain
                q = split(g.op("Add", g.op("Mul", at, g.w(slope)), g.w(base)))
                weight = np.zeros((h * hd, d), np.float32)
                for n in range(6):
                    weight[n, n] = 1
                weight[hd, 6] = 1  # the place of the last frame
                x = g.op("Add", x, g.linear(attend(q, old(k_cross), old(v_cross), None), weight, False))
            else:
                q = split(g.linear(g.norm(x, d), self.rand(d, h * hd), self.q))
                x = g.op(
                    "Add", x, g.linear(attend(q, old(k_cross), old(v_cross), None), out(h * hd, 0.1), self.q)
                )
            y, wide = g.norm(x, d), 4 * d if not self.hand else 2 * d
            y = g.linear(y, self.rand(d, 2 * wide), self.q)
            left, right = g.slice(y, g.i(0), g.i(wide), 2), g.slice(y, g.i(wide), g.i(2 * wide), 2)
            x = g.op("Add", x, g.linear(g.op("Mul", left, g.silu(right)), out(wide, 0.1), self.q))
        if self.hand:
            head, bias = self.rand(d, V, scale=0.12), np.full(V, -3, np.float32)
            head[:9] = 0
            for n, (even, odd) in enumerate(words):
                head[n, even] += 6
                head[n, odd] += 6 if odd != even else 0
            head[5, 3] = 6  # <sil>
            head[7, 2], head[6, 2], bias[2] = 200, -200, 150  # the end: place + 0.75 is behind the last frame
            turn = np.zeros((1, V), np.float32)
            for even, odd in words:
                if even != odd:
                    turn[0, even], turn[0, odd] = 4, -4
            loop = np.zeros((1, V), np.float32)
            loop[0, 2] = -1e5
            logits = g.op("Add", g.linear(x, head), g.w(bias))
            logits = g.op("Add", logits, g.op("Mul", g.op("Cos", g.op("Mul", at, g.f(np.pi))), g.w(turn)))
            noise = g.op("Relu", g.op("Sub", g.slice(x, g.i(4), g.i(5), 2), g.f(2)))
            logits = g.op("Add", logits, g.op("Mul", noise, g.w(loop)))
        else:
            logits = g.linear(g.norm(x, d), self.rand(d, V), self.q)
        g.output("logits", F, [1, "token_len", V], logits)
        g.output("out_k_self", F, [L, 1, h, "total_len", hd], g.op("Concat", *keys, axis=0))
        g.output("out_v_self", F, [L, 1, h, "total_len", hd], g.op("Concat", *values, axis=0))
        g.output("out_k_cross", F, [L, 1, h, "mem_len", hd])
        g.output("out_v_cross", F, [L, 1, h, "mem_len", hd])
        g.save(os.path.join(folder, "decoder_kv.onnx"))

    def write(self, folder, words=None, split=False):
        os.makedirs(folder, exist_ok=True)
        self.frontend(folder, split)
        self.encoder(folder)
        self.adapter(folder)
        self.cross_kv(folder)
        self.decoder(folder, words)
        with open(os.path.join(folder, "streaming_config.json"), "w") as file:
            file.write(json.dumps(self.config(), indent=2))
