import { expect, it } from 'vitest';
import { isOurMacBinding } from './ownership.ts';

it.each([
  ['rtoe-GR_red_red_n1', '169.254.0.4', '0a:58:a9:fe:00:04', true],
  ['rtoe-GR_n1', 'fd69::4', '0a:58:1b:ac:71:41', true],
  // Another program has given OVN a real neighbour, or one of another router.
  ['rtoe-GR_n1', '192.0.2.1', '02:00:00:00:00:01', false],
  ['rtoj-GR_n1', '169.254.0.4', '0a:58:a9:fe:00:04', false],
  ['lr0-public', '169.254.0.4', '0a:58:a9:fe:00:04', false],
  ['rtoe-GR_n1', 'not an address', '0a:58:a9:fe:00:04', false],
])('the MAC binding of %s, %s to %s is ours: %s', (port, ip, mac, isOurs) => {
  expect(isOurMacBinding(port, ip, mac)).toBe(isOurs);
});
