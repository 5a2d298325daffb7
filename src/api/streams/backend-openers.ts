// Joins the backends that conduct calls in place of an agent of this server: applications of
// ConversationRelay, and bots of Media Streams.
import { relayOpener } from '../relay/relay-line.js';
import { mediaStreamOpener } from './stream-line.js';

type Parts = Parameters<typeof relayOpener>[0] & Parameters<typeof mediaStreamOpener>[0];

/** The openers that `Agents` needs. */
export function backendOpeners(parts: Parts) {
  return { openRelay: relayOpener(parts), openMediaStream: mediaStreamOpener(parts) };
}
