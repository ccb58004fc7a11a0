/** Events about an object, as `kubectl get events` shows them. */
import { z } from 'zod';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface ObjectEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export const eventsOf = async (
  sandbox: Pick<Sandbox, 'objects'>,
  namespace: string,
  name: string,
): Promise<ObjectEvent[]> =>
  z
    .array(eventSchema)
    .parse(await (await sandbox.objects()).list('events', namespace))
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ type, reason, message }) => ({ type, reason, message }));

const eventSchema = z.object({
  involvedObject: z.object({ name: z.string() }),
  type: z.string(),
  reason: z.string(),
  message: z.string().default(''),
});
