import { expect, it } from 'vitest';
import { silentDatabases } from './silent-databases.ts';

const options = {
  ovsRemote: 'unix:/run/ovs.sock',
  northboundRemote: 'unix:/run/nb.sock',
  southboundRemote: 'tcp:[::1]:1',
};
const answering = { session: { whenConnected: () => Promise.resolve() } };
const silent = {
  session: {
    whenConnected: (signal?: AbortSignal) =>
      new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  },
};

it('says of each database that does not answer where it was asked', async () => {
  const databases = { openvswitch: silent, northbound: answering, southbound: silent };
  const found = await silentDatabases(databases, options, new AbortController().signal, 1);
  expect([...found]).toEqual([
    ['openvswitch', "Open vSwitch' database does not answer at unix:/run/ovs.sock: is ovsdb-server running?"],
    ['southbound', "OVN's southbound database does not answer at tcp:[::1]:1"],
  ]);
});

it('ends with whoever has ended it', async () => {
  const stop = new AbortController();
  const databases = { openvswitch: silent, northbound: silent, southbound: silent };
  const found = silentDatabases(databases, options, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(found).rejects.toThrow('stopped');
});
