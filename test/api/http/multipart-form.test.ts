// Forms taken apart: as Node's own parser does where they are valid, and refused where they are not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { formParts, FormSplitter, textOf } from '../../../src/api/http/multipart-form.js';
import { mutatedBytes, randomFrom } from '../mutations.js';

const TYPE = 'multipart/form-data; boundary=x';
const part = (name: string, text: string) =>
  `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const read = (body: string | Buffer, type = TYPE) =>
  formParts(Buffer.from(body), type).map((one) => [one.name, textOf(one)]);

const names = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('a"b', 'a\r\nb', '%22', 'a;b=c', '__proto__'),
);
const contents = fc.oneof(
  names,
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom('--', '\r\n--', '\r\n', '\r\n\r\n', '\ufeffmark').map((text) => Buffer.from(text)),
);

test('a form that Node writes is taken apart as Node does it', async () => {
  const parts = fc.array(fc.tuple(names, contents, names), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(parts, async (wanted) => {
      const form = new FormData();
      for (const [name, content, fileName] of wanted) {
        if (typeof content === 'string') form.append(name, content);
        else form.append(name, new Blob([content]), fileName);
      }
      const { headers, body, again } = await written(form);
      const ours = formParts(body, headers);
      const theirs = [...(await again.formData())];
      assert.equal(ours.length, theirs.length);
      for (const [index, [name, value]] of theirs.entries()) {
        const { name: ownName, fileName, bytes } = ours[index] ?? assert.fail();
        assert.deepEqual([ownName, fileName], [name, typeof value === 'string' ? undefined : value.name]);
        if (typeof value === 'string') assert.equal(textOf({ name, bytes }), value);
        else assert.deepEqual(bytes, Buffer.from(await value.arrayBuffer()));
      }
    }),
    { numRuns: 300 },
  );
});

async function written(form: FormData) {
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  const headers = request.headers.get('content-type') ?? '';
  const body = Buffer.from(await request.arrayBuffer());
  return {
    headers,
    body,
    again: new Response(new Uint8Array(body), { headers: { 'content-type': headers } }),
  };
}

/** Takes a form that comes in pieces of these lengths. */
function readPieces(body: Buffer, type: string, lengths: readonly number[]) {
  const splitter = new FormSplitter(type);
  const parts: { name: string; bytes: Buffer }[] = [];
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const end = at + (lengths[turn % lengths.length] ?? 1);
    for (const found of splitter.take(body.subarray(at, end))) {
      const part = parts.at(-1);
      if (!Buffer.isBuffer(found)) parts.push({ name: found.name, bytes: Buffer.alloc(0) });
      else if (part !== undefined) part.bytes = Buffer.concat([part.bytes, found]);
    }
    at = end;
  }
  splitter.end();
  return parts;
}

test('a form that comes in pieces is read as the whole', async () => {
  const parts = fc.array(fc.tuple(names, contents), { maxLength: 6 });
  const lengths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, lengths, async (wanted, sizes) => {
      const form = new FormData();
      for (const [name, content] of wanted) form.append(name, new Blob([content]));
      const { headers, body } = await written(form);
      const whole = formParts(body, headers).map(({ name, bytes }) => ({ name, bytes }));
      assert.deepEqual(readPieces(body, headers, sizes), whole);
    }),
    { numRuns: 300 },
  );
});

test('parts are views of the body', () => {
  const body = Buffer.from(`${part('a', 'one')}${part('b', '')}--x--`);
  const [first, second] = formParts(body, TYPE);
  assert.deepEqual(
    [first?.bytes.buffer, first?.bytes.toString(), second?.bytes.length],
    [body.buffer, 'one', 0],
  );
});

test('what clients write differently is understood', () => {
  const one = [['a', '1']];
  const plain = `${part('a', '1')}--x--`;
  for (const type of [
    'multipart/form-data; boundary="x"',
    'multipart/form-data; charset=utf-8; boundary=x',
    'multipart/form-data;BOUNDARY=x ; charset=utf-8',
  ])
    assert.deepEqual(read(plain, type), one, type);
  assert.deepEqual(read(`before\r\n${plain}\r\nbehind`), one);
  assert.deepEqual(read(`\r\n${plain}--`), one);
  assert.deepEqual(read('--x \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--'), one);
  const file = "content-disposition:form-data; name=a; filename=a.wav; filename*=utf-8''a.wav";
  const [bare] = formParts(Buffer.from(`--x\r\n${file}\r\ncontent-type: audio/wav\r\n\r\n1\r\n--x--`), TYPE);
  assert.deepEqual([bare?.name, bare?.fileName], ['a', 'a.wav']);
  const folded = "content-disposition: form-data;\r\n name=a;\r\n\tfilename*=utf-8''%C3%A4.wav";
  const [behind] = formParts(Buffer.from(`--x\r\n${folded}\r\n\r\n1\r\n--x--`), TYPE);
  assert.deepEqual([behind?.name, behind?.fileName], ['a', "utf-8''%C3%A4.wav"]);
  assert.deepEqual(read('--x--'), []);
});

/** A form of one part of this content type. */
function typed(type: string, bytes: readonly number[]): Buffer {
  const head = `--x\r\ncontent-disposition: form-data; name="a"\r\ncontent-type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('\r\n--x--')]);
}

for (const [type, bytes, text] of [
  ['text/plain; charset=ISO-8859-1', [0xe9], 'é'],
  ['text/plain;Charset="windows-1251"', [0xe9], 'й'],
  ['text/plain; charset=utf-8', [0xc3, 0xa9], 'é'],
  ['text/plain; charset=utf-16le', [0xe9, 0x00], 'é'],
  ['text/plain', [0xc3, 0xa9], 'é'],
  ['text/plain', [0xe9], '\ufffd'],
] as const) {
  test(`a part of ${type} with the bytes ${Buffer.from(bytes).toString('hex')} reads as ${text}`, () => {
    assert.deepEqual(read(typed(type, bytes)), [['a', text]]);
  });
}

for (const [charset, message] of [
  ['klingon', '"a" is in a character set that is not known here; utf-8 is'],
  ['utf-8', '"a" is not in utf-8, the character set that it states'],
] as const) {
  test(`a part with the byte E9 that states the character set ${charset} is refused under its name`, () => {
    const refusal = { code: 'INVALID_FIELD', field: 'a', message };
    assert.throws(() => read(typed(`text/plain; charset=${charset}`, [0xe9])), refusal);
  });
}

test('a line that only begins like the boundary is content, whole and in pieces', () => {
  for (const line of ['--xy', '--x-', '--x y', `--x${' '.repeat(70)}`, '--x\r', '--x\n', '--x-\r\n--xy']) {
    const content = `1\r\n${line}\r\n2`;
    const body = Buffer.from(`before\r\n${line}y\r\n${part('a', content)}${part('b', '3')}--x--`);
    assert.deepEqual(
      read(body),
      [
        ['a', content],
        ['b', '3'],
      ],
      line,
    );
    for (let length = 1; length < 80; length++)
      assert.deepEqual(
        readPieces(body, TYPE, [length]).map(({ name, bytes }) => [name, bytes.toString()]),
        read(body),
      );
  }
});

test('what is no form is refused with what is wrong with it', () => {
  const head = 'content-disposition: form-data; name="a"';
  const cases: [string, RegExp, string?][] = [
    ['--x--', /names no boundary/, 'multipart/form-data'],
    ['--x--', /names no boundary/, `multipart/form-data; boundary=${'x'.repeat(71)}`],
    ['', /nowhere in it/],
    ['nothing', /nowhere in it/],
    ['a--x--', /nowhere in it/],
    [part('a', '1'), /ends within a part/],
    [`--x\r\n${head}\r\n\r\n1`, /ends within a part/],
    [`${part('a', '1')}--xy`, /ends within a part/],
    ['--x', /not the end of its line/],
    [`--x\r\n${head}\r\n--x--`, /no end of its headers/],
    [`--x\r\n${head}\r\nb: ${'b'.repeat(9000)}\r\n\r\n1\r\n--x--`, /too many of them/],
    [`--x\r\nno header\r\n\r\n1\r\n--x--`, /header without a name/],
    ['--x\r\ncontent-disposition: form-data\r\n\r\n1\r\n--x--', /has no name/],
    ['--x\r\ncontent-disposition: attachment; name="a"\r\n\r\n1\r\n--x--', /has no name/],
    [`--x\r\n${head}\r\ncontent-transfer-encoding: base64\r\n\r\nMQ==\r\n--x--`, /transfer encoding/],
    [`${part('a', '1').repeat(65)}--x--`, /more than 64 parts/],
  ];
  for (const [body, message, type] of cases)
    assert.throws(() => read(body, type), { code: 'MALFORMED', message }, body.slice(0, 80));
});

test('damaged forms are read or refused, whole and in pieces alike', () => {
  const random = randomFrom(3);
  const good = Buffer.from(`${part('a', 'one')}${part('b', 'two')}--x--\r\n`);
  for (let round = 0; round < 3000; round++) {
    const body = Buffer.from(mutatedBytes(good, random));
    const whole = outcomeOf(() => formParts(body, TYPE).map(({ name, bytes }) => ({ name, bytes })));
    assert.deepEqual(
      outcomeOf(() => readPieces(body, TYPE, [1 + (round % 40)])),
      whole,
    );
  }
});

function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    assert.equal(code, 'MALFORMED');
    return message;
  }
}
