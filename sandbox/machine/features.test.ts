import { expect, it } from 'vitest';
import { type KernelFeatures, lackOf } from './features.ts';

const all: KernelFeatures = { openvswitch: true, geneve: true, vrf: true, sctp: true };

it.each([
  [all, []],
  [{ ...all, vrf: false }, ['vrf']],
  [{ ...all, geneve: false }, ['kernel-datapath']],
  [{ ...all, openvswitch: false, sctp: false }, ['kernel-datapath', 'sctp']],
])('a kernel with %j lacks %j', (features, lack) => {
  expect(lackOf(features, ['vrf', 'kernel-datapath', 'sctp'])).toEqual(lack);
  expect(lackOf(features, [])).toEqual([]);
});
