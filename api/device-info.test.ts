import { expect, it } from 'vitest';
import { parseDeviceInfo } from './device-info.ts';

const PCI = { type: 'pci', version: '1.1.0', pci: { 'pci-address': '0000:01:02.2', 'pf-pci-address': '0000:01:02.0' } };

it.each([
  [PCI],
  [{ type: 'vdpa', version: '1.1.0', vdpa: { 'parent-device': 'vdpa3', driver: 'vhost', path: '/dev/vhost-vdpa-3' } }],
  [{ type: 'vhost-user', version: '1.0.0', 'vhost-user': { mode: 'server', path: '/run/vhost.sock' } }],
  [{ type: 'memif', version: '1.1.0', memif: { role: 'master', path: '/run/memif.sock', mode: 'ethernet' } }],
  [{ ...PCI, version: '2.0.0', more: { a: [1] }, pci: { ...PCI.pci, later: true } }],
  [{ type: 'later', version: '2.0.0' }],
])('keeps all of %j', (info) => {
  expect(parseDeviceInfo(JSON.stringify(info), 'file')).toEqual(info);
});

it.each([
  ['', /JSON/],
  ['[]', /must be an object/],
  ['{"version":"1.1.0"}', 'type: is required'],
  ['{"type":"later"}', 'version: is required'],
  ['{"type":"pci","version":"1.1.0"}', 'pci: is required'],
  ['{"type":"pci","version":"1","pci":{"pci-address":"x"}}', 'version: is not MAJOR.MINOR.PATCH'],
  ['{"type":"pci","version":"1.1.0","pci":{}}', 'pci.pci-address: is required'],
  ['{"type":"toString","version":"x"}', 'version: is not MAJOR.MINOR.PATCH'],
])('does not take %s', (text, message) => {
  expect(() => parseDeviceInfo(text, 'file')).toThrow(message);
});
