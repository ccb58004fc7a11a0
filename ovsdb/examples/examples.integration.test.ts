import { expect, it } from 'vitest';
import { OvsdbSession } from '../index.ts';
import { TestServer } from '../testing/server.ts';
import { formatRemote } from '../wire/remote.ts';
import { keepNetwork } from './desired-rows.ts';
import { addPort } from './session-and-replica.ts';

it('the examples of the README do what they say', async () => {
  await using server = await TestServer.create(['ovn-northbound']);
  const printed: string[] = [];
  const session = new OvsdbSession({ database: 'OVN_Northbound', remotes: [server.remote] });
  session.start();
  try {
    await session.whenConnected(AbortSignal.timeout(10_000));
    const external_ids = ['map', [['k8s.ovn.org/network', 'blue']]] as const;
    await session.transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'node1', external_ids } }]);
    await addPort(formatRemote(server.remote), (text) => printed.push(text));
    expect(printed).toContain('node1');
    await keepNetwork(formatRemote(server.remote));
    const [result] = await session.transact([
      { op: 'select', table: 'Logical_Switch_Port', where: [], columns: ['name'] },
    ]);
    expect(result?.rows?.map(({ name }) => name).sort()).toEqual(['pod1', 'web']);
  } finally {
    await session.close();
  }
});
