// Numbers of the errors and warnings of TwiML: https://www.twilio.com/docs/api/errors

export const INVALID_URL = '11100';
/** The server answered with a status that is no success. */
export const RETRIEVAL_FAILED = '11200';
export const CONNECTION_FAILED = '11205';
/** The answer is no HTTP. */
export const NO_HTTP = '11206';
/** The name of the host does not exist, or this server may not connect to it. */
export const BAD_HOST = '11210';
export const TOO_MANY_REDIRECTS = '11215';
export const TLS_FAILED = '11220';
export const CERTIFICATE_OF_OTHER_HOST = '11235';
export const CERTIFICATE_EXPIRED = '11236';
export const CERTIFICATE_UNTRUSTED = '11237';
export const BODY_TOO_LARGE = '11750';
export const NOT_WELL_FORMED = '12100';
export const INVALID_ROOT = '12102';
/** An element, attribute or value that does not follow the schema. */
export const SCHEMA_WARNING = '12200';
export const INVALID_CONTENT_TYPE = '12300';
/** There is no number to call. */
export const INVALID_NUMBER = '13223';
export const INVALID_COACH = '13240';
export const INVALID_FINISH_KEY = '13310';
export const INVALID_SOUND = '13420';
export const INVALID_PAUSE = '13910';
export const LABEL_TAKEN = '16025';
