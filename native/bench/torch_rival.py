"""What PyTorch makes of the products that kernels_bench measures: the same shapes, walked through in
the same way, GB/s of weights as the 90th percentile over turns.

    python3 torch_rival.py [seconds a row]        needs torch

bf16: weights and inputs in bf16. int8: dynamic quantization, one scale a row; its inputs are
rounded to 8 bits too, which kernels_bench's are not.
"""
import sys
import time

import torch

WEIGHT_BYTES = 192 << 20
TURN_BYTES = 8 << 20
COUNTS = (1, 2, 4, 8)
SHAPES = (
    ("0.6B qkv", 4096, 1024),
    ("0.6B o", 1024, 2048),
    ("0.6B gate or up", 3072, 1024),
    ("0.6B down", 1024, 3072),
    ("predictor head", 2048, 1024),
    ("1.7B gate or up", 6144, 2048),
    ("1.7B down", 2048, 6144),
)


def bf16_layers(rows, columns):
    count = max(2, WEIGHT_BYTES // (rows * columns * 2))
    weights = [torch.full((rows, columns), 0.01, dtype=torch.bfloat16) for _ in range(count)]
    return [lambda x, w=w: torch.nn.functional.linear(x, w) for w in weights], torch.bfloat16, 2


def int8_layers(rows, columns):
    count = max(2, WEIGHT_BYTES // (rows * columns))
    linear = torch.nn.Linear(columns, rows, bias=False)
    model = torch.nn.Sequential(linear)
    config = {torch.nn.Linear: torch.ao.quantization.per_channel_dynamic_qconfig}
    make = torch.ao.quantization.quantize_dynamic
    return [make(model, config, dtype=torch.qint8)[0] for _ in range(count)], torch.float32, 1


def percentile90(values):
    return sorted(values)[len(values) * 9 // 10]


def row(layers, dtype, rows, columns, width, seconds):
    figures, at = [], 0
    for count in COUNTS:
        x, turns = torch.full((count, columns), 0.5, dtype=dtype), []
        end = time.perf_counter() + seconds / len(COUNTS)
        while time.perf_counter() < end or len(turns) < 10:
            done, start = 0, time.perf_counter()
            while done < TURN_BYTES:
                layers[at](x)
                at = (at + 1) % len(layers)
                done += rows * columns * width
            turns.append(done / (time.perf_counter() - start) / 1e9)
        figures.append(percentile90(turns))
    return figures


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}\n")
    print("| matrix | format | threads | 1 vector | 2 | 4 | 8 |\n| --- | --- | --- | --- | --- | --- | --- |")
    with torch.inference_mode():
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for name, make in (("bf16", bf16_layers), ("int8", int8_layers)):
                for what, rows, columns in SHAPES:
                    layers, dtype, width = make(rows, columns)
                    figures = row(layers, dtype, rows, columns, width, seconds)
                    cells = " | ".join(f"{figure:.1f}" for figure in figures)
                    print(f"| {what} {rows}x{columns} | {name} | {threads} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
