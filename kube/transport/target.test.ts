import { expect, it } from 'vitest';
import { targetOf } from './target.ts';

it.each([
  ['https://api.test', 'api.test', { host: 'api.test', port: 443 }],
  ['https://api.test:6443/', 'api.test:6443', { host: 'api.test', port: 6443 }],
  ['https://[fd00::1]:6443', '[fd00::1]:6443', { host: 'fd00::1', port: 6443 }],
  ['https://[fd00::1]', '[fd00::1]', { host: 'fd00::1', port: 443 }],
  ['http://10.0.0.1', '10.0.0.1', { host: '10.0.0.1', port: 80 }],
  ['unix:/run/api.sock', 'localhost', { host: 'localhost', socketPath: '/run/api.sock' }],
])('reads %s', (server, authority, options) =>
  expect(targetOf(server)).toEqual({ secure: server.startsWith('https:'), prefix: '', authority, options }),
);

it('keeps the path before that of requests', () => expect(targetOf('https://a/b/c/').prefix).toBe('/b/c'));

it('refuses what is no address', () => expect(() => targetOf('ftp://nowhere')).toThrow(/not the address/));
