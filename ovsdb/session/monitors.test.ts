import { expect, it } from 'vitest';
import { ovnNorthbound } from '../models/ovn-northbound.gen.ts';
import { Replica } from '../replica/replica.ts';
import type { DatabaseModel } from '../schema/model.ts';
import { ZERO_UUID } from '../uuid.ts';
import type { ReplyHandler, RpcConnection } from '../wire/connection.ts';
import { Monitors } from './monitors.ts';

it('does not make a replica current that was given up before the reply came', async () => {
  const replies: ReplyHandler[] = [];
  const connection = {
    closed: false,
    call: (_method: string, _params: unknown, onReply: ReplyHandler) => replies.push(onReply),
  } as unknown as RpcConnection;
  const monitors = new Monitors(connection);
  const replica = new Replica({ model: ovnNorthbound, tables: { Logical_Switch: ['name'] } });
  const started = monitors.start(replica, ovnNorthbound as unknown as DatabaseModel);
  monitors.stop(replica);
  for (const reply of replies) reply({ result: [false, ZERO_UUID, {}] });
  await started;
  expect(replica.synced).toBe(false);
});
