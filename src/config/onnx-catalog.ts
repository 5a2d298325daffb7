// The ONNX models that `parley pull` fetches: Moonshine recognises speech, `turn` models tell whether a
// speaker has finished. Each is pinned: its revision never changes, and each file has a checksum.

/** A file of a Moonshine model. The publisher states CRC32C only. SHA-256 comes from other projects. */
export interface PinnedFile {
  readonly name: string;
  readonly bytes: number;
  /** `hex`: SHA-256. `base64`: the four bytes of CRC32C (Castagnoli), big-endian. */
  readonly digest: { readonly kind: 'sha256' | 'crc32c'; readonly text: string };
}

/** The credit that hosts of a model name, and its licence. */
export interface Credit {
  readonly credit: string;
  readonly licence: string;
  readonly link: string;
}

export interface MoonshineModel {
  /** The short name, such as `moonshine-small-en`. */
  readonly name: string;
  readonly size: 'tiny' | 'small' | 'medium';
  /** BCP 47 primary tag. */
  readonly language: string;
  /** The publisher's name for the model. */
  readonly folder: string;
  /** The publisher's revision. A new quantisation has another one. */
  readonly revision: string;
  readonly files: readonly PinnedFile[];
}

export interface TurnModel {
  readonly name: 'turn-en' | 'turn-23';
  /** `turn-1-mini` judges each frame of a stream, `smart-turn` the last 8 s of a turn at once. */
  readonly kind: 'turn-1-mini' | 'smart-turn';
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** owner/name on the hub. */
  readonly id: string;
  readonly commit: string;
  readonly path: string;
  /** The size of the published file; of turn-en, about. */
  readonly bytes: number;
  /** Undefined: the hub states it. */
  readonly sha256: string | undefined;
  readonly credit: Credit;
}

export const MOONSHINE_CREDIT: Credit = {
  credit: 'Moonshine, copyright (c) 2025 Useful Sensors, Inc. (dba Moonshine AI)',
  licence: 'MIT',
  link: 'https://github.com/moonshine-ai/moonshine/blob/main/LICENSE',
};

// prettier-ignore
const FILES = [
  'adapter.ort', 'cross_kv.ort', 'decoder_kv.ort', 'encoder.ort', 'frontend.model.ort', 'frontend.weights.ort',
  'streaming_config.json', 'tokenizer.bin',
] as const;

/** Size and checksum of each of FILES, in their order. */
type Pins = readonly (readonly [bytes: number, digest: string])[];

// prettier-ignore
const TINY_EN: Pins = [
  [1_319_664, '22ecc949e146c49667fda28d102d4e30749a107dc88a396292aa8f277ef1347c'],
  [1_287_544, '143a36667b8d05fd9d04e8c337b7ee121f37ef299aea6b3d82bdb3d3401950b4'],
  [32_583_720, '8852553f312adb6c9aa4d17418015049b30f412209ee569d336548c0044627de'],
  [7_675_440, 'a8414e1a5dedf9f2093d7680601dd8a9b0433e7020260eafe0e370ead91134ca'],
  [23_344, '5121b561417b638afce0c6c31b760e37c93cf97f80d9b0031aad1fe7b6f25d61'],
  [2_093_464, '217da24ac6f522ebf02da8ef288e77d1ac68d50d4a6821433182e4fbf4204bbd'],
  [509, '74fe5ddebd63b17caf59e8a3b18c17547ff7bce1642050edbb1c3962674f8950'],
  [249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'],
];

const SMALL_EN: Pins = [
  [2_870_368, 'c665f742364febad597cc9ac1e0b341ffbee0e24a1466e2f3bde95e6e4771762'],
  [5_356_536, 'e2d3417144e9514055ebfefe8dcc4c0a55a55adcb8530435844c75c53e352bf6'],
  [81_878_600, '1a05465b1dd955858dfcbee039c0020fb5dd982b0f5094c34e61735d518d771b'],
  [44_148_576, '2d4d973e91e8aca08c51e7e7efa28a46ab265b63d809d5294d18b86bcd85b993'],
  [26_944, '09b1210ae30dc5f0f3e45f0ebab914c254741323114f53fbbe5ae62cca35058f'],
  [7_769_464, '7ef97521bd4bad3928f5bb6808586f4fcc6e92bd5990394112eed7d4052ec338'],
  [512, '26f02b6afb22d60871a5efd85c3d38e569cc0ddb6c5eb6e93d3260152ae8a47a'],
  [249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'],
];

const MEDIUM_EN: Pins = [
  [3_651_296, '3f2a287def57cc094367a0eec3c4f5fc36a32ec420e86764b696920991b20281'],
  [11_643_776, '642f6e21cd305be79342207c6f9e6b681d469d55bc48c72b27b84846fb71fd1e'],
  [146_972_408, '193bb366492b74fc4ad338c6778e8d8eb916aaa11b5aa264f9057f4db7759486'],
  [94_705_376, '12915e76ebac7dd287c5ea63965d06103a53ba1ce242a4a34f318f3958c60c37'],
  [28_720, '95768855c70c8251eeecc05fedf69999da1b8ab16f605c9f457fd3354b0ad6b5'],
  [11_889_560, '5ac941f490cbe035b335b99a414cc393d62d4c6f9f2423495b286870d271d709'],
  [513, '28e83b7a28e91472692a035e0dae3116422ae43aeb2bef5ed822c44ce89b88af'],
  [249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'],
];

const SMALL_ES: Pins = [
  [2_869_296, '04b54114c8aab534222922640f7ca0882948ff9f6ed76777f6e184e55a8e8b15'],
  [5_358_752, '4bfd0a641d72ccdae22751f86bbb2e25ff70c1fba4f81213f2415a1accff9618'],
  [61_314_512, '5b77c3d6baf801ef925a5bc54d7eb3db0c35ebbb86f8eaf5390d7f5bb42fef37'],
  [44_358_376, 'a9b8d6d5d9348d0e319cceffdb0196ef622df8e4e9f3fb4797dcd8dfafd50857'],
  [26_776, '69c76287f49db365aa278d4908ec450e69ca1b4bfb7e836159d963d623ee0c13'],
  [7_769_280, '2f5a0eb5f3004c9447810d74274a352746319a32144e31d95ef410f425b84dda'],
  [512, '12d16c7f5ea6734d197b79baf47914ea7e996d6fca8d303a19aca10d0617cecc'],
  [102_888, '5fbb7d4314dcb18e03c5f975609e4a4cd572b22b01d2b2accb1b3e6830696f36'],
];

const SMALL_DE: Pins = [
  [2_869_296, 'rx5eAg=='],
  [5_358_752, 'B9ac2w=='],
  [61_314_512, 'IRMZCQ=='],
  [44_358_376, 'AI1jZg=='],
  [26_776, 'nGFUEw=='],
  [7_769_280, 'kUSrbA=='],
  [512, 'Y/oEHw=='],
  [103_319, 'x219Qw=='],
];

const SMALL_JA: Pins = [
  [2_869_296, 'GzlnQA=='],
  [5_358_752, '0btjiw=='],
  [61_314_512, 'qXEgyA=='],
  [44_358_376, 'fltsVQ=='],
  [31_208, 'RhG3gA=='],
  [7_769_288, 'VjqzBw=='],
  [512, 'Y/oEHw=='],
  [101_836, 'M94Ogg=='],
];

function moonshine(size: MoonshineModel['size'], language: string, date: string, pins: Pins): MoonshineModel {
  const files = FILES.map((name, index): PinnedFile => {
    const [bytes, text] = pins[index] ?? [0, ''];
    return { name, bytes, digest: { kind: text.endsWith('=') ? 'crc32c' : 'sha256', text } };
  });
  const names = { name: `moonshine-${size}-${language}`, folder: `${size}-streaming-${language}` };
  return { ...names, size, language, revision: `quantized_${date}`, files };
}

/** Preferred ones of a language first. */
export const MOONSHINE_MODELS: readonly MoonshineModel[] = [
  moonshine('small', 'en', '26_08_21', SMALL_EN),
  moonshine('medium', 'en', '26_08_21', MEDIUM_EN),
  moonshine('tiny', 'en', '26_08_21', TINY_EN),
  moonshine('small', 'de', '26_08_24', SMALL_DE),
  moonshine('small', 'es', '26_08_24', SMALL_ES),
  moonshine('small', 'ja', '26_08_23', SMALL_JA),
];

export const TURN_MODELS: readonly TurnModel[] = [
  {
    name: 'turn-en',
    kind: 'turn-1-mini',
    languages: ['en'],
    id: 'p99lab/turn-1-mini',
    commit: '22bcc75c9857d664ede4811cf3dfaa46be7c4376',
    path: 'onnx/turn-1-mini.step.onnx',
    bytes: 21_800_000,
    sha256: undefined,
    credit: {
      credit: 'turn-1-mini by p99lab',
      licence: 'Apache-2.0',
      link: 'https://www.apache.org/licenses/LICENSE-2.0',
    },
  },
  {
    name: 'turn-23',
    kind: 'smart-turn',
    // prettier-ignore
    languages: [
      'ar', 'bn', 'da', 'de', 'en', 'es', 'fi', 'fr', 'hi', 'id', 'it', 'ja', 'ko', 'mr', 'nl', 'no', 'pl', 'pt',
      'ru', 'tr', 'uk', 'vi', 'zh',
    ],
    id: 'pipecat-ai/smart-turn-v3',
    commit: 'f766f81d3cfdf7737ac64aad813d91bbfd56bf93',
    path: 'smart-turn-v3.2-cpu.onnx',
    bytes: 8_679_182,
    sha256: '2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f',
    credit: {
      credit: 'Smart Turn v3.2 by Daily',
      licence: 'BSD-2-Clause',
      link: 'https://github.com/pipecat-ai/smart-turn/blob/main/LICENSE',
    },
  },
];

/** Undefined for another name. */
export function moonshineModelNamed(name: string): MoonshineModel | undefined {
  return MOONSHINE_MODELS.find((model) => model.name === name.trim().toLowerCase());
}

/** Undefined for another name. */
export function turnModelNamed(name: string): TurnModel | undefined {
  return TURN_MODELS.find((model) => model.name === name.trim().toLowerCase());
}

/** Bytes of the published files. */
export function moonshineBytes({ files }: MoonshineModel): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
