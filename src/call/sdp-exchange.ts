// Opens browser calls by an exchange of session descriptions (RFC 3264, RFC 9429), whichever protocol carries
// these: WHIP, WHEP or the realtime API. src/api speaks the protocols; signaling implements the exchange.

/**
 * The direction of the audio. `talk`: both ways, or from this server only, as the offer says. `publish`: from
 * the client only (WHIP). `listen`: to the client only (WHEP).
 */
export type SdpUse = 'talk' | 'publish' | 'listen';

export interface SdpOffer {
  readonly sdp: string;
  /** `talk`, if absent. */
  readonly use?: SdpUse;
  /** Name of the API key that the session belongs to; undefined: it belongs to every key. */
  readonly owner?: string | undefined;
  /** The names under which the session is counted for its client. */
  readonly clients?: readonly string[] | undefined;
  /**
   * RTP timestamp of the sound that the client received last over the connection that it replaces; only to
   * resume a call. What was sent after it is sent once more. Undefined: nothing is.
   */
  readonly receivedTimestamp?: number | undefined;
  /** Name of the agent that talks in the call, or `none`; undefined: the usual one, if there is one. */
  readonly agent?: string | undefined;
  /** Name of the program of IVR_FILE that conducts the call; not together with an agent. */
  readonly program?: string | undefined;
  /** The session that the client describes beside its offer: a JSON object, unread. */
  readonly session?: Readonly<Record<string, unknown>> | undefined;
  /** The id of a running call whose sound the client hears instead of a call of its own; only to `listen`. */
  readonly listenTo?: string | undefined;
}

export interface SdpSession {
  /** Id of the call, or of the listener to another call; unguessable. */
  readonly id: string;
  /** The answer with all candidates of this server. */
  readonly sdp: string;
  /** Names the present ICE session; it changes with each ICE restart. Letters and digits. */
  readonly iceSession: string;
  /**
   * A client with it may patch, resume and end the call, and listen to it. Unguessable; undefined for a
   * listener.
   */
  readonly token: string | undefined;
}

/** The part of an `application/trickle-ice-sdpfrag` body (RFC 8840) that this server uses. */
export interface IceFragment {
  /** Fragment and password of the client; undefined if the body states none. */
  readonly ufrag: string | undefined;
  readonly pwd: string | undefined;
  /** Values of `a=candidate`, unchecked. */
  readonly candidates: readonly string[];
}

/** The answer to an ICE restart (RFC 8839 section 4.4.1.1.1). */
export interface IceRestart {
  readonly iceSession: string;
  readonly ufrag: string;
  readonly pwd: string;
  /** Values of `a=candidate`. */
  readonly candidates: readonly string[];
  /** The media id of the section that carries the transport. */
  readonly mid: string;
}

export interface SdpExchange {
  /**
   * Rejects with SDP_INVALID, NO_COMMON_CODEC, CALL_LIMIT, CLIENT_LIMIT, OVERLOADED, or CALL_CLOSED while the
   * server closes. For `listenTo` also with NOT_FOUND if the owner may use no such call, and CALL_STATE if
   * the call is still in set-up. For an unknown agent or program, and for both, with INVALID_FIELD.
   * Nothing is left of a rejected offer.
   */
  open(offer: SdpOffer): Promise<SdpSession>;
  /**
   * The present ICE session, if the API key of this name may use the session; undefined otherwise. No name
   * means any key.
   */
  iceSession(id: string, key?: string): string | undefined;
  /**
   * Takes candidates of the client, which an ICE-lite server may ignore, and returns undefined. A fragment
   * with another ufrag and password than the client's present ones restarts ICE (RFC 9725 section 4.3.3).
   * Throws SDP_INVALID or NOT_FOUND; the session goes on as before then.
   *
   * `receivedTimestamp` of a restart says that the present path is dead, and is the RTP timestamp of the
   * sound that the client received last. Nothing is sent then until there is a new path, and what was sent
   * after it is sent once more, unless the client listens to the call of another one.
   */
  patchIce(id: string, fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined;
  /**
   * Moves a call to a new connection of its client: the offer of the new connection is answered and the sound
   * goes on where it stopped. Rejects with NOT_FOUND if no call has this token, and as `open` does.
   */
  resume(token: string, offer: SdpOffer): Promise<SdpSession>;
  /**
   * True if the token is that of the running call of this id, or of the call that the listener of this id
   * hears.
   */
  isTokenOf(id: string, token: string): boolean;
  /** False if there is no such session, or the key may not use it. */
  hangUp(id: string, key?: string): Promise<boolean>;
}
