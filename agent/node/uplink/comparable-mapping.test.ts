import { expect, it } from 'vitest';
import { comparableMapping } from './comparable-mapping.ts';

const differences = async (bridge: string | undefined, externalIds: Record<string, string> | undefined) =>
  comparableMapping({ bridge: () => bridge, externalIds: () => externalIds }).differences(new AbortController().signal);

const KEY = 'Open_vSwitch/external_ids:ovn-bridge-mappings';

it('is as it should be when our physical network is mapped, whatever else is', async () => {
  expect(await differences('br-ex', { 'ovn-bridge-mappings': 'other:br-x,physnet:br-ex' })).toEqual([]);
  expect(await differences(undefined, {})).toEqual([]);
});

it.each([
  ['missing', {}, 'physnet:br-ex', undefined],
  ['missing', { 'ovn-bridge-mappings': 'other:br-x' }, 'other:br-x,physnet:br-ex', 'other:br-x'],
  ['different', { 'ovn-bridge-mappings': 'physnet:br-y' }, 'physnet:br-ex', 'physnet:br-y'],
])('is %s in %j', async (kind, ids, desired, actual) =>
  expect(await differences('br-ex', ids)).toEqual([{ key: KEY, kind, owners: ['uplink:'], desired, actual }]),
);

it('is not known without a connection', () =>
  expect(differences('br-ex', undefined)).rejects.toThrow('the database is not connected'));
