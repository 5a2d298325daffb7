// Reads the OpenAI-compatible speech servers that make the voices of the engine `openai`.
import { type ConfigReader } from './environment.js';
import { isHttpUrl } from './recognition-config.js';
import type { Variable } from './variables.js';

export interface SpeechServersConfig {
  readonly baseUrls: readonly string[];
  readonly apiKey: string | undefined;
  readonly model: string;
  readonly dialect: 'openai' | 'vllm';
  /** `remote`: name of the voice at the servers. */
  readonly voices: readonly { readonly name: string; readonly remote: string }[];
  /** BCP 47 primary tags, best first. */
  readonly languages: readonly string[];
}

const DEPENDENT = ['TTS_API_KEY', 'TTS_MODEL', 'TTS_DIALECT', 'TTS_VOICES', 'TTS_LANGUAGES'] as const;
const VOICE = /^([^\s=,]{1,100})(?:=([^,]{1,200}))?$/;
const LANGUAGE = /^[a-z]{2,3}$/;

/** Undefined without a server. */
export function readSpeechServers(read: ConfigReader<Variable>): SpeechServersConfig | undefined {
  const kind = 'http or https URLs without user, query and fragment';
  const baseUrls = read.listOf('TTS_BASE_URL', kind, isHttpUrl).map((url) => url.replace(/\/+$/, ''));
  const dialect = read.choice('TTS_DIALECT', ['openai', 'vllm'], 'openai');
  if (baseUrls.length === 0) {
    const lone = DEPENDENT.find((name) => read.raw(name) !== undefined);
    if (lone !== undefined) read.problem(lone, 'has no effect without TTS_BASE_URL');
    return undefined;
  }
  if (new Set(baseUrls).size < baseUrls.length) read.problem('TTS_BASE_URL', 'must name each server once');
  const [apiKey, model] = [read.raw('TTS_API_KEY'), read.raw('TTS_MODEL')];
  if (model === undefined) read.problem('TTS_MODEL', 'must name the model of TTS_BASE_URL');
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    read.problem('TTS_API_KEY', 'must be ASCII without spaces: other keys cannot be sent');
  return {
    baseUrls,
    apiKey,
    model: model ?? '',
    dialect,
    voices: readVoices(read),
    languages: readLanguages(read),
  };
}

function readVoices(read: ConfigReader<Variable>): SpeechServersConfig['voices'] {
  const items = read.listOf('TTS_VOICES', 'names such as alloy, or anna=alloy', (item) => VOICE.test(item));
  if (items.length === 0) read.problem('TTS_VOICES', 'must name the voices of TTS_BASE_URL');
  const voices = items.map((item) => {
    const [, name = '', remote = name] = VOICE.exec(item) ?? [];
    return { name, remote: remote.trim() };
  });
  if (new Set(voices.map(({ name }) => name)).size < voices.length)
    read.problem('TTS_VOICES', 'must name each voice once');
  return voices;
}

function readLanguages(read: ConfigReader<Variable>): readonly string[] {
  const languages = read.listOf('TTS_LANGUAGES', 'tags such as en or de', (item) => LANGUAGE.test(item));
  return languages.length === 0 ? ['en'] : [...new Set(languages)];
}
