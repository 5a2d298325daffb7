"""Builds an ONNX graph, node by node."""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

F, I64, I8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8


class Graph:
    """Collects nodes and initialisers; every method returns the name of its result."""

    def __init__(self, name):
        self.name, self.nodes, self.inits, self.ins, self.outs, self.count = name, [], [], [], [], 0
        self.const = {}

    def new(self, hint):
        self.count += 1
        return f"{hint}_{self.count}"

    def input(self, name, kind, shape):
        self.ins.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, kind, shape, source=None):
        if source is not None and source != name:
            self.nodes.append(helper.make_node("Identity", [source], [name], name=self.new("out")))
        self.outs.append(helper.make_tensor_value_info(name, kind, shape))

    def w(self, array, name=None):
        array = np.array(array, order="C")  # not ascontiguousarray: it gives a scalar an axis
        name = name or self.new("w")
        self.inits.append(numpy_helper.from_array(array, name))
        return name

    def i(self, *values):
        key = ("i", values)
        if key not in self.const:
            self.const[key] = self.w(np.array(values, np.int64))
        return self.const[key]

    def f(self, value):
        key = ("f", float(value))
        if key not in self.const:
            self.const[key] = self.w(np.array(value, np.float32))
        return self.const[key]

    def op(self, kind, *inputs, n=1, **attributes):
        outs = [self.new(kind.lower()) for _ in range(n)]
        self.nodes.append(helper.make_node(kind, list(inputs), outs, name=self.new("n"), **attributes))
        return outs[0] if n == 1 else outs

    def slice(self, x, start, end, axis):
        return self.op("Slice", x, start, end, self.i(axis))

    def dim(self, x, axis):
        """[1] int64: the length of an axis."""
        return self.op("Gather", self.op("Shape", x), self.i(axis), axis=0)

    def range(self, start, end):
        """int64 from two tensors of one element."""
        zero = self.w(np.array(0, np.int64))
        one = self.w(np.array(1, np.int64))
        scalar = lambda v: self.op("Add", self.op("Squeeze", v, self.i(0)), zero)
        return self.op("Range", scalar(start), scalar(end), one)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def norm(self, x, width, free=0):
        """free: so many channels at the end become 0."""
        gain = np.ones(width, np.float32)
        gain[width - free :] = 0
        return self.op("LayerNormalization", x, self.w(gain), axis=-1, epsilon=1e-5)

    def linear(self, x, weight, quantised=False):
        """weight [in, out]; quantised: as the published graphs, activations quantised at run time."""
        if not quantised:
            return self.op("MatMul", x, self.w(weight.astype(np.float32)))
        scale = (np.abs(weight).max(axis=0) / 127).astype(np.float32) + 1e-9
        packed = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        q, s, z = self.op("DynamicQuantizeLinear", x, n=3)
        product = self.op("MatMulInteger", q, self.w(packed), z, self.w(np.array(0, np.int8)))
        return self.op("Mul", self.op("Cast", product, to=F), self.op("Mul", s, self.w(scale)))

    def model(self, opset=17):
        graph = helper.make_graph(self.nodes, self.name, self.ins, self.outs, self.inits)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="parley-toy"
        )
        model.ir_version = 8
        return model

    def save(self, path, **kw):
        model = self.model(**kw)
        if model.ByteSize() < 1 << 20:
            try:
                checker.check_model(model)
            except checker.ValidationError as error:
                if "graph must be in single static assignment" not in str(error):
                    raise
        with open(path, "wb") as file:
            file.write(model.SerializeToString(deterministic=True))
