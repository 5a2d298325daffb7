import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asParleyError,
  attempt,
  Defect,
  forClient,
  GIVEN_UP,
  guarded,
  isAborted,
  meaningOf,
  ParleyError,
} from '../src/errors.js';
import { errorReply } from '../src/api/http/error-reply.js';
import { rejectionsOf } from './fakes/rejections.js';

const traced = (error: Error) => /\n\s+at /.test(error.stack ?? '');

test('a refusal has no trace, a failure has one, and other errors keep theirs', () => {
  const limit = Error.stackTraceLimit;
  for (const code of [
    'CALL_LIMIT',
    'CALL_CLOSED',
    'RATE_LIMITED',
    'ENGINE_BUSY',
    'QUEUE_FULL',
    'ABORTED',
  ] as const) {
    const error = new ParleyError(code, 'why');
    assert.deepEqual(
      [error.code, error.message, error.name, traced(error)],
      [code, 'why', 'ParleyError', false],
    );
  }
  assert.equal(traced(new ParleyError('ENGINE_FAILED', 'why')), true);
  assert.equal(traced(new Error('foreign')), true);
  assert.equal(Error.stackTraceLimit, limit);
});

test('a lack of descriptors has its own code, whatever work it ended', () => {
  for (const code of ['EMFILE', 'ENFILE']) {
    const cause = Object.assign(new Error(`${code}: too many open files, open '/tmp/a'`), { code });
    const error = asParleyError(cause, 'AUDIO_INVALID');
    assert.deepEqual([error.code, error.cause], ['DESCRIPTORS_EXHAUSTED', cause]);
    assert.doesNotMatch(error.message, /tmp/);
    assert.equal(errorReply(cause, 'req_1').status, 503);
    assert.equal(errorReply(cause, 'req_1').headers['retry-after'], '5');
  }
  assert.equal(asParleyError(Object.assign(new Error('no'), { code: 'EIO' }), 'MALFORMED').code, 'MALFORMED');
});

test('what wraps another error keeps it as its cause', () => {
  const cause = new TypeError('inner');
  const error = asParleyError(cause, 'ENGINE_FAILED');
  assert.deepEqual([error.code, error.message, error.cause], ['ENGINE_FAILED', 'inner', cause]);
  assert.equal(asParleyError(error, 'ABORTED'), error);
});

test('the reason of what was given up is known as such', () => {
  const controller = new AbortController();
  controller.abort(GIVEN_UP);
  assert.equal(isAborted(controller.signal.reason), true);
});

test('a handler that throws ends its own work, and is reported with it', async () => {
  const work = { work: 'call', call: 'c1' };
  const failed: ParleyError[] = [];
  const taken: number[] = [];
  const handler = guarded(
    work,
    (value: number) => {
      if (value === 2) throw new TypeError('two');
      taken.push(value);
    },
    (error) => failed.push(error),
  );
  const rejections = await rejectionsOf(() => [1, 2, 3].forEach(handler));
  assert.deepEqual(taken, [1, 3]);
  assert.deepEqual(
    failed.map(({ code, message }) => [code, message]),
    [['WRONG_STATE', 'two']],
  );
  const [defect] = rejections;
  assert.ok(defect instanceof Defect && rejections.length === 1);
  assert.deepEqual([defect.work, defect.message], [work, 'call: two']);
});

test('a failure of the end of a piece of work is reported as well, and nothing is thrown', async () => {
  const fail = () => {
    throw new Error('twice');
  };
  const rejections = await rejectionsOf(() => {
    guarded({ work: 'call' }, fail, fail)();
    attempt({ work: 'call' }, fail);
  });
  assert.deepEqual(
    rejections.map(String),
    Array.from({ length: 3 }, () => 'Defect: call: twice'),
  );
});

for (const code of [
  'ENGINE_FAILED',
  'ENCODER_FAILED',
  'HEARING_FAILED',
  'WRONG_STATE',
  'CONFIG_INVALID',
] as const) {
  test(`a client is told what ${code} means, and none of its words`, () => {
    const told = forClient(new ParleyError(code, 'cannot read /srv/models/voice.bin', { field: 'text' }));
    assert.deepEqual(told, { message: meaningOf(code), field: undefined });
  });
}

test('a client is told no variable of the operator, and its own fields', () => {
  for (const [message, field, told] of [
    ['the speech server answered 401: no; TTS_API_KEY is set', 'TTS_API_KEY', undefined],
    [
      "the agent's language model answered 401: no; AGENT_LLM_API_KEY is not set",
      'AGENT_LLM_API_KEY',
      undefined,
    ],
    ['the transcription server answered 404: no', 'ASR_MODEL', undefined],
    ['"input" is missing', 'input', 'input'],
  ] as const) {
    const error = forClient(new ParleyError('ENGINE_UNAVAILABLE', message, { field }));
    assert.doesNotMatch(error.message, /_/);
    assert.equal(error.field, told);
  }
});

for (const [message, told] of [
  ['2 texts wait already, which is what MAX_WAITING_UTTERANCES allows', '2 texts wait already'],
  [
    '"text" is longer than the 10 characters that MAX_TEXT_LENGTH allows',
    '"text" is longer than the 10 characters that are allowed',
  ],
  [
    'the server uses 98 % of its processor, and MAX_CPU_PERCENT allows 90',
    'the server uses 98 % of its processor, and 90 is the most',
  ],
  [
    'this server recognises no speech: its operator must set ASR_MODEL_ID or ASR_BASE_URL',
    'this server recognises no speech',
  ],
  ['pages of a may not; CORS_ORIGINS lists those that may', 'pages of a may not'],
  ['it records no calls; RECORDINGS_DIR=/path/of/a/folder changes it', 'it records no calls'],
  ['to is not allowed; SIP_DESTINATIONS lists those that are', 'to is not allowed'],
  ['no key has the name "a"; API_KEYS or API_KEYS_FILE lists them', 'no key has the name "a"'],
  [
    'this server has no telephone; SIP_ENABLED=1, with a free SIP_PORT, turns it on',
    'this server has no telephone',
  ],
  ['the key has had its calls (SIP_CALLS_PER_MINUTE)', 'the key has had its calls'],
  ['other languages need a checkpoint (set MODEL_DIR)', 'other languages need a checkpoint'],
  [
    'nobody speaks French: flite speaks English only; the engine espeak would: set ESPEAK=1',
    'nobody speaks French: flite speaks English only',
  ],
  [
    'a.agent names "b", which is none; AGENTS_FILE lists them; a.text is missing',
    'a.agent names "b", which is none; a.text is missing',
  ],
  [
    'the checkpoint of MODEL_DIR or MODEL_ID cannot be used: no tokens',
    'the checkpoint cannot be used: no tokens',
  ],
  [
    'the list of models was answered with 404: does ASR_BASE_URL end in /v1?',
    'the list of models was answered with 404',
  ],
  ['speech cannot be prepared: FRAME_CACHE_BYTES=0 keeps no sentences', 'speech cannot be prepared'],
  [
    'it takes at most half of the frame cache, 512 bytes of FRAME_CACHE_BYTES',
    'it takes at most half of the frame cache, 512 bytes',
  ],
  [
    'its licence forbids commercial use; the operator allows it with POCKET_NONCOMMERCIAL=1',
    'its licence forbids commercial use',
  ],
  ['"voice" must be one of A_B and C_D', '"voice" must be one of A_B and C_D'],
] as const) {
  test(`a client is told "${told}"`, () => {
    assert.equal(forClient({ code: 'QUEUE_FULL', message, field: 'text' }).message, told);
  });
}
