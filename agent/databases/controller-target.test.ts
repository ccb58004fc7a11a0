import { expect, it } from 'vitest';
import { reconnectOperations, restoreOperations } from './controller-target.ts';

const OTHER_NAME = 'unix:/var/run/openvswitch/./br-int.mgmt';
const change = (mutator: 'insert' | 'delete'): unknown => ({
  op: 'mutate',
  table: 'Open_vSwitch',
  where: [],
  mutations: [['external_ids', mutator, ['map', [['ovn-bridge-remote', OTHER_NAME]]]]],
});

it.each([
  { state: 'the default', ids: {}, reconnect: [change('insert')], restore: [] },
  {
    state: 'our name of it',
    ids: { 'ovn-bridge-remote': OTHER_NAME },
    reconnect: [change('delete')],
    restore: [change('delete')],
  },
  {
    state: 'what an operator has set',
    ids: { 'ovn-bridge-remote': 'tcp:127.0.0.1:6653' },
    reconnect: [],
    restore: [],
  },
])('$state', ({ ids, reconnect, restore }) => {
  expect(reconnectOperations(ids)).toEqual(reconnect);
  expect(restoreOperations(ids)).toEqual(restore);
});
