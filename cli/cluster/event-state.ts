/** What is kept of an Event. */
import { z } from 'zod';
import { parseWith } from '../../api/parse.ts';

export interface EventState {
  /** `Pod/ns/name` */
  readonly about: string;
  readonly uid: string | undefined;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970; 0: it does not say. */
  readonly at: number;
}

const text = z.string().nullish();
const eventSchema = z.object({
  metadata: z.object({ creationTimestamp: text }),
  involvedObject: z.object({ kind: text, namespace: text, name: text, uid: text }),
  type: text,
  reason: text,
  message: text,
  lastTimestamp: text,
  eventTime: text,
  series: z.object({ lastObservedTime: text }).nullish(),
});

export const eventState = (object: unknown): EventState => {
  const event = parseWith(eventSchema, object, 'Event');
  const { kind, namespace, name, uid } = event.involvedObject;
  const time =
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  return {
    about: [kind, namespace, name].filter(Boolean).join('/'),
    uid: uid ?? undefined,
    isWarning: event.type === 'Warning',
    reason: event.reason ?? '',
    message: event.message ?? '',
    at: Date.parse(time ?? '') || 0,
  };
};
