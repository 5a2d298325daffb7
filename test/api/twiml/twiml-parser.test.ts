// Documents of TwiML as programs: verbs with their defaults, URLs, and what is refused with line and column.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTwiml } from '../../../src/api/twiml/twiml-parser.js';
import { ProgramError } from '../../../src/ivr/door.js';
import type { Gather, Verb } from '../../../src/ivr/verbs.js';

const URL = 'https://bot.example.com/ivr/voice.php?tenant=7';

const parsed = (inner: string, url: string | undefined = URL) =>
  parseTwiml(`<?xml version="1.0" encoding="UTF-8"?>\n<Response>${inner}</Response>`, url);

/** The verbs of a document without a warning. */
function verbs(inner: string, url?: string): readonly Verb[] {
  const program = parsed(inner, url);
  assert.deepEqual(program.warnings, []);
  return program.verbs;
}

function gather(attributes: string): Gather {
  const [verb] = verbs(`<Gather ${attributes}/>`);
  assert.equal(verb?.verb, 'gather');
  return verb as Gather;
}

/** Code, line, column and text of each warning. */
const warned = (inner: string) =>
  parsed(inner).warnings.map(({ code, line, column, message }) => `${code} ${line}:${column} ${message}`);

function refusal(source: string): string {
  try {
    parseTwiml(source, URL);
  } catch (error) {
    assert.ok(error instanceof ProgramError);
    const { code, message, document, line, column } = error.warning;
    assert.equal(document, URL);
    return `${code} ${line}:${column} ${message}`;
  }
  return 'taken';
}

test('a Parameter of ours makes a gather sensitive, and is no prompt', () => {
  const of = (value: string) =>
    parseTwiml(
      `<Response><Gather><Parameter name="sensitive" value="${value}"/><Say>Your card?</Say></Gather></Response>`,
      'http://127.0.0.1/',
    );
  const { verbs, warnings } = of('true');
  const [verb = assert.fail()] = verbs;
  assert.ok(verb.verb === 'gather' && verb.isSensitive === true && verb.prompts.length === 1);
  assert.deepEqual(warnings, []);
  assert.equal((of('false').verbs[0] as { isSensitive?: boolean }).isSensitive, undefined);
});

test('each verb of a document becomes a verb of the program, with the defaults of Twilio', () => {
  assert.deepEqual(
    verbs('<Say>Hello</Say><Play>hello.mp3</Play><Pause/><Redirect>next</Redirect><Reject/><Hangup/>'),
    [
      { verb: 'say', text: 'Hello', format: 'text', voice: undefined, language: undefined, times: 1 },
      { verb: 'play', sound: 'https://bot.example.com/ivr/hello.mp3', times: 1 },
      { verb: 'pause', ms: 1000 },
      { verb: 'redirect', to: { at: 'https://bot.example.com/ivr/next', method: 'POST' } },
      { verb: 'reject', reason: 'rejected' },
      { verb: 'hangup' },
    ],
  );
});

test('text and URLs are trimmed, and a loop of 0 means a thousand times', () => {
  const [say, play, redirect] = verbs(`
    <Say loop="0" language="de-DE">
      Guten Tag
    </Say>
    <Play loop="3">
      /music.wav
    </Play>
    <Redirect method="GET">
      ../menu?a=1&amp;b=2
    </Redirect>`);
  assert.deepEqual(say, {
    verb: 'say',
    text: 'Guten Tag',
    format: 'text',
    voice: undefined,
    language: 'de-DE',
    times: 1000,
  });
  assert.deepEqual(play, { verb: 'play', sound: 'https://bot.example.com/music.wav', times: 3 });
  assert.deepEqual(redirect, {
    verb: 'redirect',
    to: { at: 'https://bot.example.com/menu?a=1&b=2', method: 'GET' },
  });
});

for (const voice of ['man', 'woman', 'alice', 'Polly.Joanna-Neural', 'Google.en-US-Neural2-A', 'polly.Amy']) {
  test(`the voice ${voice} is that of another service: the usual voice of the server speaks`, () => {
    const [say] = verbs(`<Say voice="${voice}">Hello</Say>`);
    assert.equal(say?.verb === 'say' && say.voice, undefined);
  });
}

test('a voice of this server stays, and the name of a voice of Google tells the language', () => {
  const [own, google] = verbs(
    '<Say voice="alloy">Hello</Say><Say voice="Google.fr-CA-Wavenet-A">Bonjour</Say>',
  );
  assert.equal(own?.verb === 'say' && own.voice, 'alloy');
  assert.equal(google?.verb === 'say' && google.language, 'fr-CA');
});

test('SSML within Say stays SSML, with its entities escaped', () => {
  const [say] = verbs(
    '<Say>At &lt;5&gt; <break time="500ms"/>o&apos;clock, <say-as interpret-as="date" format="mdy">1/2/2026</say-as> &amp; <prosody rate="slow">so <emphasis level="strong">on</emphasis></prosody></Say>',
  );
  assert.deepEqual(say?.verb === 'say' && [say.format, say.text], [
    'ssml',
    '<speak>At &lt;5&gt; <break time="500ms"></break>o\'clock, <say-as interpret-as="date" format="mdy">1/2/2026</say-as> &amp; <prosody rate="slow">so <emphasis level="strong">on</emphasis></prosody></speak>',
  ]);
});

test('markup that cannot be spoken is a warning, and its words are said', () => {
  const { verbs: said, warnings } = parsed(
    '<Say>One <b>two</b> <say-as interpret-as="nothing">3</say-as> <s>four <s>five</s></s></Say>',
  );
  assert.equal(said[0]?.verb === 'say' && said[0].text, '<speak>One two 3 <s>four five</s></speak>');
  assert.deepEqual(
    warnings.map(({ code, column }) => [code, column]),
    [
      ['12200', 20],
      ['12200', 31],
      ['12200', 31],
      ['12200', 81],
    ],
  );
  const late = parsed('<Say>Wait <break time="900s"/>here</Say>');
  assert.deepEqual(late.verbs[0]?.verb === 'say' && [late.verbs[0].format, late.verbs[0].text], [
    'text',
    'Wait here',
  ]);
  assert.match(late.warnings[0]?.message ?? '', /"time" of <break> must be 20s at most/);
});

test('a gather holds 50 prompts: a document cannot have any number of sounds fetched at once', () => {
  const plays = Array.from({ length: 60 }, (_, n) => `<Play>/${n}.wav</Play>`).join('');
  const document = `<Gather><Parameter name="sensitive" value="true"/>${plays}</Gather>`;
  const {
    verbs: [gather],
    warnings: [warning, ...others],
  } = parsed(document);
  const held = gather?.verb === 'gather' ? gather.prompts : [];
  assert.equal(held.length, 50);
  assert.match(warning?.message ?? '', /^<Gather> holds 50 prompts at most; those behind them are skipped$/);
  assert.deepEqual(others, []);
});

test('digits of Play are pressed: w waits half a second, W one second', () => {
  assert.deepEqual(verbs('<Play digits="1w2WA#*"/>'), [{ verb: 'press', digits: '1,2,,A#*' }]);
  assert.deepEqual(warned('<Play digits="12x"/>'), [
    '12200 2:11 "digits" of <Play> must be of 0-9, A-D, #, *, w and W; <Play> is skipped',
  ]);
  assert.deepEqual(warned(`<Play digits="${'1'.repeat(65)}"/>`), [
    '12200 2:11 "digits" of <Play> must have at most 64 keys and half seconds; <Play> is skipped',
  ]);
});

test('Gather has the defaults of Twilio, and without an action this document gets its input', () => {
  assert.deepEqual(gather(''), {
    verb: 'gather',
    inputs: ['keys'],
    prompts: [],
    isInterruptible: true,
    firstMs: 5000,
    betweenMs: 5000,
    finishKeys: '#',
    mostKeys: undefined,
    speechEndMs: 5000,
    mostSpeechMs: 60_000,
    language: 'en-US',
    hints: [],
    action: { at: URL, method: 'POST' },
    tellsEmpty: false,
    partial: undefined,
  });
});

test('every attribute of Gather changes what it collects', () => {
  const attributes =
    'input="dtmf speech" action="/key" method="GET" timeout="3" finishOnKey="*" numDigits="4" speechTimeout="2" ' +
    'maxSpeechTime="20" hints=" billing, sales ,," language="de-DE" actionOnEmptyResult="true" bargeIn="false" ' +
    'partialResultCallback="/so-far" partialResultCallbackMethod="GET"';
  assert.deepEqual(gather(attributes), {
    verb: 'gather',
    inputs: ['keys', 'speech'],
    prompts: [],
    isInterruptible: false,
    firstMs: 3000,
    betweenMs: 3000,
    finishKeys: '*',
    mostKeys: 4,
    speechEndMs: 2000,
    mostSpeechMs: 20_000,
    language: 'de-DE',
    hints: ['billing', 'sales'],
    action: { at: 'https://bot.example.com/key', method: 'GET' },
    tellsEmpty: true,
    partial: { at: 'https://bot.example.com/so-far', method: 'GET' },
  });
});

test('an empty finish key makes every key data, and auto leaves the end of speech to the server', () => {
  assert.equal(gather('finishOnKey=""').finishKeys, '');
  assert.equal(gather('input="speech" speechTimeout="auto"').speechEndMs, undefined);
  assert.equal(gather('input="speech" timeout="7"').speechEndMs, 7000);
});

test('the prompts of Gather are its Say, Play and Pause, in order', () => {
  const [verb] = verbs('<Gather><Say>Press 1</Say><Pause length="2"/><Play>/a.wav</Play></Gather>');
  assert.deepEqual(verb?.verb === 'gather' && verb.prompts.map((prompt) => prompt.verb), [
    'say',
    'pause',
    'play',
  ]);
});

test('a Gather skips what is no prompt, with a warning each', () => {
  assert.deepEqual(warned('<Gather>1<Hangup/><Play digits="1"/><Gather/><Foo/></Gather>'), [
    '12200 2:11 <Gather> holds no text; "1" is skipped',
    '12200 2:20 <Gather> may hold Say, Play, Pause, not <Hangup>; it is skipped',
    '12200 2:29 <Play> within <Gather> must not have "digits"; it is skipped',
    '12200 2:47 <Gather> may hold Say, Play, Pause, not <Gather>; it is skipped',
    '12200 2:56 <Foo> is no verb of TwiML; it is skipped',
  ]);
});

test('an unknown verb, attribute or case is a warning with its place, and the rest runs', () => {
  const inner = '\n<Shout/>\n<say>a</say>\n  <Say tone="high">Hello</Say>stray<Hangup><Say>b</Say></Hangup>';
  assert.deepEqual(warned(inner), [
    '12200 2:1 <Response> holds no text; "stray" is skipped',
    '12200 3:1 <Shout> is no verb of TwiML; it is skipped',
    '12200 4:1 <say> is no verb, <Say> is: case matters; it is skipped',
    '12200 5:3 <Say> has no attribute "tone"; it has voice, language, loop',
    '12200 5:44 <Hangup> holds no <Say>; it is skipped',
  ]);
  assert.deepEqual(
    parsed(inner).verbs.map(({ verb }) => verb),
    ['say', 'hangup'],
  );
});

for (const [attribute, code, allowed, fallback] of [
  ['timeout="soon"', '12200', 'a whole number from 0 to 14400', '5'],
  ['timeout="-1"', '12200', 'a whole number from 0 to 14400', '5'],
  ['numDigits="0"', '12200', 'a whole number from 1 to 1000', 'no limit'],
  ['finishOnKey="12"', '13310', 'one of 0-9, * and #, or empty', '#'],
  ['input="keys"', '12200', 'dtmf, speech or dtmf speech', 'dtmf'],
  ['bargeIn="yes"', '12200', 'true or false', 'true'],
  ['method="PUT"', '12200', 'GET or POST', 'POST'],
  ['language="Deutsch!"', '12200', 'a language tag such as en-GB', 'en-US'],
  ['speechTimeout="0"', '12200', 'auto, or seconds from 1 to 9999', '5'],
] as const) {
  test(`a Gather with ${attribute} is warned about and takes the default`, () => {
    const [name, value] = attribute.split('=');
    const what = `"${name}" of <Gather> must be ${allowed}, not ${value}; "${fallback}" is used`;
    assert.deepEqual(warned(`<Gather ${attribute}/>`), [`${code} 2:11 ${what}`]);
    assert.deepEqual(parsed(`<Gather ${attribute}/>`).verbs, parsed('<Gather/>').verbs);
  });
}

test('a pause of no number is warning 13910, and hints beyond the limits are left out', () => {
  assert.match(warned('<Pause length="1.5"/>')[0] ?? '', /^13910 2:11 "length" of <Pause>/);
  const hints = Array.from({ length: 501 }, (_, index) => `h${index}`).join(',');
  const program = parsed(`<Gather input="speech" hints="${'x'.repeat(101)},${hints}"/>`);
  assert.equal(program.verbs[0]?.verb === 'gather' && program.verbs[0].hints.length, 500);
  assert.match(program.warnings[0]?.message ?? '', /may have 500 hints of 100 characters at most/);
});

test('Refer needs the address of a SIP telephone', () => {
  for (const uri of ['sip:a@example.com', 'a@example.com'])
    assert.deepEqual(verbs(`<Refer><Sip>${uri}</Sip></Refer>`), [
      { verb: 'refer', to: 'sip:a@example.com', action: undefined },
    ]);
  assert.deepEqual(warned('<Refer><Sip>+4930</Sip></Refer>'), [
    '11100 2:11 <Refer> must hold a <Sip> with a SIP URI of at most 255 characters; it is skipped',
  ]);
});

test('Record has the defaults of Twilio', () => {
  assert.deepEqual(parsed('<Record/>').warnings, []);
  assert.deepEqual(verbs('<Record/>'), [
    {
      verb: 'record',
      beeps: true,
      timeoutMs: 5000,
      finishKeys: '1234567890*#',
      mostMs: 3_600_000,
      trims: true,
      action: { at: URL, method: 'POST' },
      callback: undefined,
      transcript: undefined,
    },
  ]);
});

test('a transcript makes a recording last two minutes at most, and needs a callback', () => {
  const [one] = verbs('<Record transcribeCallback="/text"/>');
  assert.ok(one?.verb === 'record');
  assert.deepEqual([one.mostMs, one.transcript?.method], [120_000, 'POST']);
  assert.match(
    warned('<Record transcribe="true"/>')[0] ?? '',
    /"transcribe" .* without "transcribeCallback"/,
  );
});

test('wrong values of Record are warnings, and the defaults hold', () => {
  const attributes = 'timeout="-1" finishOnKey="x" maxLength="0" trim="yes"';
  const callback = 'recordingStatusCallback="/r" recordingStatusCallbackEvent="begun completed"';
  const [one] = parsed(`<Record ${attributes} ${callback}/>`).verbs;
  assert.ok(one?.verb === 'record');
  assert.deepEqual([one.timeoutMs, one.finishKeys, one.mostMs], [5000, '1234567890*#', 3_600_000]);
  assert.deepEqual(one.callback?.events, ['completed']);
  const numbers = warned(`<Record ${attributes} ${callback}/>`).map((warning) => warning.split(' ')[0]);
  assert.deepEqual(numbers, ['12200', '13310', '12200', '12200', '12200']);
});

test('a recording of one side or in one channel, and a transcript without a callback, are warnings', () => {
  const recording = '<Recording channels="mono" track="inbound" trim="trim-silence"/>';
  assert.deepEqual(
    warned(`<Start>${recording}<Transcription/></Start>`).map((warning) => warning.replace(/^\d+ \S+ /, '')),
    [
      '"channels" of <Recording>: the two sides are recorded in two channels',
      '"track" of <Recording>: both sides are recorded',
      '"trim" of <Recording>: a recording of the whole call keeps its silence',
      '<Transcription> must have "statusCallbackUrl", which gets the text; it is skipped',
    ],
  );
  assert.match(warned('<Stop/>')[0] ?? '', /<Stop> must hold <Stream>, <Recording>, <Transcription>/);
  assert.equal(warned('<Start><Siprec/></Start>').length, 1); // not that <Start> is empty, too
});

for (const verb of ['Pay', 'Sms', 'Echo', 'Prompt']) {
  test(`<${verb}> is refused by name`, () => {
    assert.match(warned(`<${verb}/>`)[0] ?? '', new RegExp(`^12200 2:11 <${verb}> is refused: `));
  });
}

test('a product of Twilio within a verb is refused by its own name', () => {
  assert.deepEqual(warned('<Connect><VirtualAgent/></Connect><Dial><Sim>1</Sim></Dial>'), [
    '12200 2:20 <VirtualAgent> is refused: it stands for a product of Twilio; it is skipped',
    '12200 2:51 <Sim> is refused: it stands for a product of Twilio; it is skipped',
  ]);
});

test('a document without a URL keeps relative URLs as they are', () => {
  const { verbs: own } = parseTwiml('<Response><Gather/><Redirect>/next</Redirect></Response>', undefined);
  assert.deepEqual(own[0]?.verb === 'gather' && own[0].action, { at: '', method: 'POST' });
  assert.deepEqual(own[1], { verb: 'redirect', to: { at: '/next', method: 'POST' } });
});

test('a URL that cannot be parsed stays as it is, for the door to refuse', () => {
  assert.deepEqual(verbs('<Redirect>http://[</Redirect>'), [
    { verb: 'redirect', to: { at: 'http://[', method: 'POST' } },
  ]);
});

test('the user and password of a URL are in no warning', () => {
  const { warnings, verbs: said } = parsed('<Foo/><Redirect/>', 'https://me:secret@bot.example.com/a#rc=2');
  assert.equal(warnings[0]?.document, 'https://bot.example.com/a');
  assert.equal(said[0]?.verb === 'redirect' && said[0].to.at, 'https://me:secret@bot.example.com/a#rc=2');
});

for (const [what, source, expected] of [
  [
    'a bare ampersand',
    '<Response><Play>a?b&c</Play></Response>',
    /^12100 1:20 .*& must be written as &amp;$/,
  ],
  ['a blank before the declaration', ' <?xml version="1.0"?><Response/>', /^12100 1:\d+ .*not well-formed/],
  ['nothing', '', /^12100 1:1 .*not well-formed/],
  ['an element that is not closed', '<Response><Say>Hi</Response>', /^12100 1:\d+ .*<Say> must be closed/],
  ['a control character', '<Response><Say>\u0001</Say></Response>', /^12100 1:16 .*U\+0001/],
  ['binary', '\u007fELF\u0000\u0001', /^12100 1:\d+ .*not well-formed/],
  [
    'a document type with entities',
    '<!DOCTYPE a [<!ENTITY b "&c;&c;">]><Response><Say>&b;</Say></Response>',
    /^12100 1:1 .*a document type is not taken$/,
  ],
  ['an unknown entity', '<Response><Say>&nbsp;</Say></Response>', /^12100 1:\d+ .*there is no such entity/],
  ['JSON', '{"say": "Hello"}', /^12100 1:1 .*text must stand within <Response>$/],
  ['another root', '<response/>', /^12102 1:1 .*must have the root <Response>, not <response>/],
  ['two roots', '<Response/><Response/>', /^12100 1:\d+ /],
  [
    '65 elements within each other',
    `<Response>${'<Say>'.repeat(64)}${'</Say>'.repeat(64)}</Response>`,
    /^12100 1:\d+ .*is nested 65 deep, 64 is the most$/,
  ],
] as const) {
  test(`a document with ${what} is refused with its place`, () => {
    assert.match(refusal(source), expected);
  });
}

test('a document of nothing but mistakes has a hundred warnings, and one that there are more', () => {
  const { warnings } = parsed('<Foo/>'.repeat(5000));
  assert.equal(warnings.length, 101);
  assert.equal(warnings.at(-1)?.message, 'there are more warnings about this document');
});

test('comments, CDATA and processing instructions are no mistakes', () => {
  const [say] = verbs('<!-- a --><?x y?><Say>One <!-- two -->and <![CDATA[<three>]]></Say>');
  assert.equal(say?.verb === 'say' && say.text, 'One and <three>');
});
