import { expect, it } from 'vitest';
import { mirrorName } from './mirrored-slice.ts';

it('is named after its network and its source where that is a name', () => {
  expect(mirrorName('blue-net', 'web-abc12')).toBe('blue-net-web-abc12');
});

it.each([
  ['red_net', 'web-abc12'],
  ['n'.repeat(200), 'w'.repeat(100)],
  ['n', 'w'.repeat(253)],
  ['n', `${'w'.repeat(241)}.-.${'w'.repeat(9)}`],
])('has another name that is one, and its own: %s %s', (network, source) => {
  const name = mirrorName(network, source);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  expect(name.length).toBeLessThanOrEqual(253);
  expect(name).not.toBe(source);
  expect(mirrorName(network, source)).toBe(name);
  expect(mirrorName(`${network}x`, source)).not.toBe(name);
});
