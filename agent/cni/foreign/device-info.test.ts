/** Networks whose plugins say which device they have given the pod. */
import { expect, it } from 'vitest';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import { SANDBOX, setUp } from '../../testing/cni-handler.ts';
import { ended, pluginError } from '../../testing/fake-plugins.ts';

const INFO = { type: 'pci', version: '1.1.0', pci: { 'pci-address': '0000:01:02.2' } };
const FILE = `/devinfo/${SANDBOX}-1.json`;

/** Without the capability, then with it in the second plugin. @param text what that one writes */
const withDevice = (text?: string) => {
  const it = setUp({ foreignPlugins: parseForeignPlugins('bridge,sriov') });
  const capabilities = { CNIDeviceInfoFile: true };
  it.cluster
    .foreignNad('ns/lan', { type: 'bridge', cniVersion: '1.0.0' })
    .foreignNad('ns/device', {
      cniVersion: '1.0.0',
      plugins: [
        { type: 'bridge', runtimeConfig: { CNIDeviceInfoFile: '/etc/passwd' } },
        { type: 'sriov', capabilities },
      ],
    })
    .pod('ns/a', { node: 'node1', selects: 'lan,device', networks: { default: { ips: ['10.128.0.3/23'] } } });
  it.flush();
  it.plugins.answers.set('ADD sriov', () => {
    expect(it.files.texts.has(FILE)).toBe(false);
    if (text !== undefined) it.files.texts.set(FILE, text);
    return ended('{}');
  });
  const deviceInfo = async () => (await it.foreign.made({ containerId: SANDBOX })).map((one) => one.deviceInfo);
  return { ...it, deviceInfo };
};

it('is asked for by a file of their own, which goes with the attachment', async () => {
  const it = withDevice(JSON.stringify(INFO));
  it.files.texts.set(FILE, 'of an ADD before');
  await it.call('ADD');
  expect(it.plugins.calls.map(({ config }) => config['runtimeConfig'])).toEqual([
    ...[undefined, undefined, { CNIDeviceInfoFile: FILE }],
  ]);
  expect(await it.deviceInfo()).toEqual([undefined, INFO]);
  await it.call('DEL');
  expect(it.plugins.calls.at(3)?.config['runtimeConfig']).toEqual({ CNIDeviceInfoFile: FILE });
  expect([...it.files.texts]).toEqual([]);
});

it('is nothing where no file is written', async () => {
  const it = withDevice();
  await it.call('ADD');
  expect(await it.deviceInfo()).toEqual([undefined, undefined]);
  expect(it.failures).toEqual([]);
});

it('that cannot be read leaves the pod attached, and the event says so', async () => {
  const it = withDevice('{"type":"pci"}');
  await it.call('ADD');
  expect(it.failures).toEqual(['ns/a: ns/device as net2: network-status lacks device-info: version: is required']);
  expect(await it.deviceInfo()).toEqual([undefined, undefined]);
});

it('stays for a DEL that is repeated', async () => {
  const it = withDevice(JSON.stringify(INFO));
  await it.call('ADD');
  it.plugins.answers.set('DEL sriov', pluginError('busy'));
  await expect(it.call('DEL')).rejects.toThrow('busy');
  expect([...it.files.texts.keys()]).toEqual([FILE]);
  it.plugins.answers.clear();
  await it.call('DEL');
  expect([...it.files.texts]).toEqual([]);
});
