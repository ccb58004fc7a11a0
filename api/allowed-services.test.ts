import { expect, it } from 'vitest';
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from './allowed-services.ts';

it.each([
  [DEFAULT_ALLOWED_SERVICES, ['default/kubernetes', 'kube-system/kube-dns']],
  [' ns/a , ns/b,ns/a', ['ns/a', 'ns/b']],
  ['none', []],
])('"%s" names %j', (text, keys) => expect(parseAllowedServices(text)).toEqual(keys));

it.each(['', ',', 'kubernetes', 'a/b/c', 'A/b', 'a/', '/b', 'a/b none', 'none,a/b', `a/${'b'.repeat(64)}`])(
  '"%s" is refused',
  (text) => expect(() => parseAllowedServices(text)).toThrow('is not the namespace/name of a Service, nor "none"'),
);
