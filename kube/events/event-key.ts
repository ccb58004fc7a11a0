/** Which events are one. Pure. */
import type { EventInput } from './types.ts';

/** Repetitions of the same thing count up. */
export const sameEventKey = ({ regarding, type, reason, message }: EventInput): string =>
  JSON.stringify([...aboutParts(regarding), type, reason, message]);

/** Different messages of one reason about one object: when there are many of them they become one event. */
export const similarEventKey = ({ regarding, type, reason }: EventInput): string =>
  JSON.stringify([...aboutParts(regarding), type, reason]);

/** Whose events are rationed together. */
export const aboutKey = ({ regarding }: EventInput): string => JSON.stringify(aboutParts(regarding));

const aboutParts = ({ apiVersion, kind, namespace, name, uid }: EventInput['regarding']): string[] => [
  apiVersion,
  kind,
  namespace ?? '',
  name,
  uid ?? '',
];

/** The API refuses a longer one. */
const MAX_MESSAGE_BYTES = 1024;

export const shortMessage = (message: string): string => {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const cut = Buffer.from(message)
    .subarray(0, MAX_MESSAGE_BYTES - 3)
    .toString('utf8');
  // A character that was cut in two decodes to U+FFFD.
  return `${cut.replace(/\uFFFD+$/, '')}...`;
};
