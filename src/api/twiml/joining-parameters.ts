// Parameters of requests about conferences and queues: the results of their verbs, what a caller in a queue
// may learn, and the events of a conference. https://www.twilio.com/docs/voice/twiml/conference
import type { ConferenceHappening, ConferenceNotice, QueuePlace, VerbResult } from '../../ivr/verbs.js';
import { callSid, conferenceSid, queueSid } from './sids.js';
import type { FormFields } from './twiml-signature.js';

type JoiningResult = Exclude<
  VerbResult,
  { readonly of: 'redirect' | 'gather' | 'record' | 'connect' | 'refer' | 'dial' }
>;

const PREFIXES: Readonly<Partial<Record<ConferenceHappening, string>>> = {
  start: 'conference-start',
  end: 'conference-end',
  'announcement-end': 'announcement-end',
  'announcement-fail': 'announcement-fail',
};

/** @param owner name of the API key of the call; undefined: it belongs to every key */
export function joiningParameters(result: JoiningResult, owner: string | undefined): FormFields {
  switch (result.of) {
    case 'conference':
      return [['DialCallStatus', 'answered']];
    case 'enqueue':
      return [
        ['QueueResult', result.result],
        ['QueueSid', queueSid(owner, result.queue)],
        ['QueueTime', seconds(result.waitedMs)],
      ];
    case 'dequeue':
      return [
        ['DialCallStatus', result.status],
        ...(result.other === undefined ? [] : [['DialCallSid', callSid(result.other)] as const]),
        ['DialCallDuration', seconds(result.durationMs)],
        ['DialBridged', String(result.status === 'completed')],
      ];
    case 'wait':
      return result.place === undefined ? [] : placeParameters(result.place, owner);
    case 'whisper':
      return [
        ['QueueSid', queueSid(owner, result.queue)],
        ['QueueTime', seconds(result.waitedMs)],
        ['DequeingCallSid', callSid(result.by)],
      ];
  }
}

function placeParameters(place: QueuePlace, owner: string | undefined): FormFields {
  return [
    ['QueuePosition', String(place.position)],
    ['QueueSid', queueSid(owner, place.queue)],
    ['QueueTime', seconds(place.waitedMs)],
    ['AvgQueueTime', seconds(place.averageMs)],
    ['CurrentQueueSize', String(place.size)],
    ['MaxQueueSize', String(place.mostWaiting)],
  ];
}

/** The room that a request is about; none if it is undefined. */
export function roomParameters(room: string | undefined, owner: string | undefined): FormFields {
  if (room === undefined) return [];
  return [
    ['ConferenceSid', conferenceSid(owner, room)],
    ['FriendlyName', room],
  ];
}

export function conferenceParameters(notice: ConferenceNotice, owner: string | undefined): FormFields {
  const { happening, number, at } = notice;
  return [
    ...roomParameters(notice.room, owner),
    ['StatusCallbackEvent', PREFIXES[happening] ?? `participant-${happening}`],
    ['SequenceNumber', String(number)],
    ['Timestamp', new Date(at).toUTCString()],
    ...memberParameters(notice),
    ...endParameters(notice),
  ];
}

function memberParameters({ member }: ConferenceNotice): FormFields {
  if (member === undefined) return [];
  return [
    ['CallSid', callSid(member.call)],
    ['Muted', String(member.muted)],
    ['Hold', String(member.hold)],
    ['Coaching', String(member.coach !== undefined)],
    ...(member.coach === undefined ? [] : [['CallSidToCoach', callSid(member.coach)] as const]),
    ['StartConferenceOnEnter', String(member.opens !== false)],
    ['EndConferenceOnExit', String(member.ends === true || member.moderator)],
    ...(member.label === undefined ? [] : [['ParticipantLabel', member.label] as const]),
  ];
}

function endParameters({ reason, by }: ConferenceNotice): FormFields {
  if (reason === undefined) return [];
  if (by === undefined) return [['ReasonConferenceEnded', 'conference-ended-via-api']];
  const why = reason === 'moderator left' ? 'participant-with-end-conference-on-exit' : 'last-participant';
  return [
    ['CallSidEndingConference', callSid(by)],
    ['ReasonConferenceEnded', `${why}-left`],
  ];
}

function seconds(ms: number): string {
  return String(Math.round(ms / 1000));
}
