// The words that every call of the bench webrtc hears, except those that are synthesised live.
export const SENTENCES = ['Your order has shipped this morning.', 'It arrives on Tuesday, before noon.'];
