// Reads the verb Refer of TwiML. https://www.twilio.com/docs/voice/twiml/refer
import type { Refer } from '../../ivr/verbs.js';
import { type ElementParser, SIP_URI_RULE, sipUri } from './dial-parser.js';
import type { TwimlAttributes } from './twiml-attributes.js';
import { elementsOf, textOf, type TwimlElement } from './twiml-document.js';
import { INVALID_URL } from './twiml-errors.js';

export const REFER_ATTRIBUTES: readonly string[] = ['action', 'method'];

export function readRefer(
  element: TwimlElement,
  read: TwimlAttributes,
  parser: ElementParser,
): Refer | undefined {
  const [sip, ...more] = elementsOf(element).flatMap((noun) => {
    if (noun.name === 'Sip' || noun.name === 'ReferSip') return [noun];
    parser.warn(noun, `<Refer> holds <Sip>, not <${noun.name.slice(0, 40)}>; it is skipped`);
    return [];
  });
  for (const noun of more) parser.warn(noun, '<Refer> has one <Sip>; those behind the first are skipped');
  const to = sip === undefined ? undefined : sipUri(textOf(sip));
  if (sip !== undefined) parser.checkAttributes(sip, []);
  if (to === undefined)
    return parser.warn(element, `<Refer> must hold a <Sip> with ${SIP_URI_RULE}; it is skipped`, INVALID_URL);
  const action = read.raw('action')?.trim() ?? '';
  return {
    verb: 'refer',
    to,
    action: action === '' ? undefined : parser.target(action, read, 'method'),
  };
}
