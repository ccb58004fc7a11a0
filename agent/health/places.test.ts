import { describe, expect, it } from 'vitest';
import { problemsOfHealth, reasonsOfHealth } from './component.ts';
import { verdictOf } from './network-unavailable.ts';
import { type FoundPlaces, placesHealth } from './places.ts';

const fits = { status: 'False', reason: 'MTUFits', message: 'packets fit' } as const;
const well: FoundPlaces = { gateway: [], mtu: fits, kubeletLacks: undefined };
const stateOf = (found: Partial<FoundPlaces>) =>
  placesHealth({ ...well, ...found }).flatMap(({ component, state, message }) =>
    state === 'working' ? [] : [`${component} ${state}: ${message}`],
  );
const gateway = (cause: 'uplink-off-bridge' | 'gateway-missing' | 'tunnel-address-missing', message: string) => ({
  gateway: [{ object: 'Node/n', cause, message }],
});

describe('a component fails', () => {
  it.each([
    ['none', {}, []],
    ['the uplink', gateway('uplink-off-bridge', 'eth0 is not on br-ex'), ['uplink failed: eth0 is not on br-ex']],
    ['the bridge', gateway('gateway-missing', 'no gateway bridge'), ['uplink failed: no gateway bridge']],
    ['an address of tunnels is not the uplink’s', gateway('tunnel-address-missing', 'no 172.20.0.11'), []],
    ['the MTU', { mtu: { ...fits, status: 'True', message: 'too large' } }, ['mtu failed: too large']],
    ['the MTU is not known', { mtu: undefined }, ['mtu unknown: the MTU of the tunnels is not known']],
    ['the kubelet', { kubeletLacks: 'no process is in it' }, ['kubelet-cgroup failed: no process is in it']],
  ] as const)('%s', (_, found, expected) => {
    expect(stateOf(found)).toEqual(expected);
  });
});

it('an uplink that is off its bridge keeps pods away, and is no second problem', () => {
  const message = 'eth0 is not on br-ex';
  const health = placesHealth({ ...well, ...gateway('uplink-off-bridge', message) });
  expect([problemsOfHealth('n', health), reasonsOfHealth(health)]).toEqual([[], [message]]);
  expect(verdictOf(health)).toEqual({ status: 'True', reason: 'UplinkNotOnBridge', message });
});

it('no bridge, packets that do not fit, and a kubelet outside of its cgroup keep no pod away', () => {
  const mtu = { ...fits, status: 'True', message: 'too large' } as const;
  const health = placesHealth({ ...gateway('gateway-missing', 'no gateway bridge'), mtu, kubeletLacks: 'none' });
  expect([problemsOfHealth('n', health), reasonsOfHealth(health)]).toEqual([[], []]);
  expect(verdictOf(health)).toMatchObject({ status: 'False' });
});
