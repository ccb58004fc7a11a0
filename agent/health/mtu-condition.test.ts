import { expect, it } from 'vitest';
import type { Diagnostic } from '../model/fragment.ts';
import { OversizedNetworks } from './mtu-condition.ts';

const tooLarge = (object: string, message: string): readonly Diagnostic[] => [
  { object, severity: 'error', cause: 'mtu-too-large', message },
];
const other: readonly Diagnostic[] = [{ object: 'Network/red', severity: 'error', message: 'rendering failed' }];

const setUp = () => {
  const networks = new OversizedNetworks();
  const diagnostics = new Map<string, readonly Diagnostic[]>();
  const render = (changes: Readonly<Record<string, readonly Diagnostic[]>>): void => {
    for (const [owner, found] of Object.entries(changes)) diagnostics.set(owner, found);
    networks.update(Object.keys(changes), diagnostics);
  };
  return { networks, render };
};

it('names the first network whose packets do not fit, and counts the others', () => {
  const { networks, render } = setUp();
  render({ 'other:red': other, 'mtu:red': tooLarge('Network/red', 'its MTU is 1500, ...') });
  expect(networks.verdict(1442)).toEqual({
    ...{ status: 'True', reason: 'MTUTooLarge', message: 'network red: its MTU is 1500, ...' },
  });
  render({ 'mtu:default': tooLarge('Node/n1', 'network default: d'), 'mtu:blue': tooLarge('Network/blue', 'b') });
  expect(networks.verdict(1442)).toMatchObject({ message: 'network blue: b; 2 more networks' });
});

it('is False where all fit again, and says nothing while that is not known', () => {
  const { networks, render } = setUp();
  render({ 'mtu:red': tooLarge('Network/red', 'r') });
  expect(networks.verdict(undefined)).toBeUndefined();
  render({ 'mtu:red': [] });
  expect(networks.verdict(1442)).toMatchObject({ status: 'False', reason: 'MTUFits' });
});
