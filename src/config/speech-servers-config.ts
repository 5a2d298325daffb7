// Reads the OpenAI-compatible speech servers that make the voices of the engine `openai`.
import type { ConfigReader } from './environment.js';
import { type ApiServersConfig, readServers } from './recognition-config.js';
import type { Variable } from './variables.js';

export interface SpeechServersConfig extends ApiServersConfig {
  readonly dialect: 'openai' | 'vllm';
  /** `remote`: name of the voice at the servers. */
  readonly voices: readonly { readonly name: string; readonly remote: string }[];
  /** BCP 47 primary tags, best first. */
  readonly languages: readonly string[];
}

const VOICE = /^([^\s=,]{1,100})(?:=([^,]{1,200}))?$/;
const LANGUAGE = /^[a-z]{2,3}$/;

/** Undefined without a server. */
export function readSpeechServers(read: ConfigReader<Variable>): SpeechServersConfig | undefined {
  const servers = readServers(read, { url: 'TTS_BASE_URL', key: 'TTS_API_KEY', model: 'TTS_MODEL' });
  const dialect = read.choice('TTS_DIALECT', ['openai', 'vllm'], 'openai');
  if (servers !== undefined)
    return { ...servers, dialect, voices: readVoices(read), languages: readLanguages(read) };
  for (const name of ['TTS_DIALECT', 'TTS_VOICES', 'TTS_LANGUAGES'] as const)
    if (read.raw(name) !== undefined) read.problem(name, 'has no effect without TTS_BASE_URL');
  return undefined;
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
