import { expect, it } from 'vitest';
import { apiServerAt, ownPorts } from './own-ports.ts';

it.each([
  ['https://127.0.0.1:6444', { ip: '127.0.0.1', port: 6444 }],
  ['https://localhost:6444', { ip: '127.0.0.1', port: 6444 }],
  ['https://[fd00::1]:6443/prefix', { ip: 'fd00::1', port: 6443 }],
  ['https://192.0.2.1', { ip: '192.0.2.1', port: 443 }],
  ['https://api.example:6443', undefined],
  ['unix:/run/api.sock', undefined],
])('the API server of %s', (server, expected) => {
  expect(apiServerAt(server)).toEqual(expected);
});

it('where the agent serves metrics is reserved, too', () => {
  const at = (port: number) => ({ host: '127.0.0.1', port });
  const metrics = { plain: at(9500), tls: { address: at(9501), folder: '/tls' } };
  expect(ownPorts({ reservedHostPorts: ['TCP/22'], metrics }, 'https://192.0.2.1').reservedHostPorts).toEqual([
    'TCP/22',
    'TCP/9500',
    'TCP/9501',
  ]);
});
