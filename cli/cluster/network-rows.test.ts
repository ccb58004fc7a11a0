import { expect, it } from 'vitest';
import { condition, nadOf, scene, settledNetwork } from '../why/testing/objects.ts';
import { n1, net, red, web } from '../why/testing/settled.ts';
import { networkItems } from './network-rows.ts';

it('a network that nodes are silent about is not called ready, and one that may not be read is', () => {
  const stateOf = (silent: number, unread: readonly { resource: string; what: string; why: string }[] = []) => {
    const nodes = { total: 3, ready: 3 - silent, pending: 0, failing: 0, silent };
    const ready = silent > 0 ? { ...condition('Ready', 'Unknown'), reason: 'NodesSilent' } : condition('Ready');
    const status = { conditions: [ready], nodes };
    const objects = [red, n1, nadOf(net, 'red'), web, settledNetwork(net, status)];
    return networkItems(scene(objects, { unread })).map(({ state, message }) => [state, message]);
  };
  expect(stateOf(0)).toEqual([['ready', undefined]]);
  expect(stateOf(2)).toEqual([['unknown', '2 of 3 nodes do not report the network']]);
  const unread = [{ resource: 'namespaces', what: 'namespaces', why: 'you may not list them' }];
  expect(stateOf(0, unread)).toEqual([['ready', undefined]]);
});
