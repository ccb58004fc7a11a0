import { expect, it } from 'vitest';
import { FEATURES } from '../features/index.ts';
import { withdrawalOf } from './withdrawal.ts';

it('takes back the values in rows that are not ours, and only those', () => {
  const { northbound, southbound, openvswitch } = withdrawalOf(FEATURES);
  expect(northbound).toEqual({
    patches: [{ table: 'NB_Global', columns: { name: '', ipsec: false }, entries: { options: { name: null } } }],
  });
  expect(southbound).toEqual({ patches: [] });
  expect(openvswitch?.patches).toEqual([
    expect.objectContaining({
      table: 'Open_vSwitch',
      entries: {
        external_ids: expect.objectContaining({ 'ovn-remote': null, 'ovn-encap-ip': null, hostname: null }),
        other_config: { 'bundle-idle-timeout': null },
      },
    }),
  ]);
});
