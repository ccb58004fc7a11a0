import { expect, it } from 'vitest';
import { COMPONENTS, type Component, type ComponentHealth, type ComponentState } from './component.ts';
import { verdictOf } from './network-unavailable.ts';

const health = (changes: Partial<Record<Component, ComponentState>> = {}): ComponentHealth[] =>
  COMPONENTS.map((component) => ({ component, state: changes[component] ?? 'working', message: `of ${component}` }));

it('names what explains the others, and says nothing while it does not know', () => {
  expect(verdictOf(health())).toMatchObject({ status: 'False', reason: 'OVNUDNIsUp' });
  expect(verdictOf(health({ 'ovs-vswitchd': 'failed', 'ovn-controller': 'unknown' }))).toMatchObject({
    status: 'True',
    reason: 'VswitchdNotResponding',
    message: 'of ovs-vswitchd',
  });
  expect(verdictOf(health({ 'ovn-northd': 'unknown' }))).toBeUndefined();
  expect(verdictOf(health({ 'api-server': 'failed', tunnels: 'failed' }))).toMatchObject({ status: 'False' });
});
