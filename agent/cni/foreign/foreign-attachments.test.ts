/** The verbs of CNI for pods on networks of other plugins: which plugins are called with what, and what is left. */
import { describe, expect, it } from 'vitest';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import { NETNS, SANDBOX, setUp } from '../../testing/cni-handler.ts';
import { ended, pluginError } from '../../testing/fake-plugins.ts';

const LAN = {
  cniVersion: '1.0.0',
  plugins: [
    { type: 'bridge', capabilities: { mac: true, bandwidth: true }, args: { cni: { a: 1 }, other: 2 } },
    { type: 'tuning', capabilities: { mac: true } },
  ],
};

const withForeign = (selects = 'lan') => {
  const it = setUp({ foreignPlugins: parseForeignPlugins('bridge,tuning') });
  it.cluster
    .foreignNad('ns/lan', LAN)
    .foreignNad('ns/wan', { type: 'bridge', cniVersion: '0.3.1' })
    .pod('ns/a', { node: 'node1', selects, networks: { default: { ips: ['10.128.0.3/23'] } } });
  it.flush();
  return it;
};

const NOTHING = { ports: [], links: [], made: [], records: [] };
const stateOf = async ({ ports, netlink, plugins, store }: ReturnType<typeof withForeign>) => ({
  ports: ports.all(),
  links: await netlink.pods.list(),
  made: [...plugins.made],
  records: [...store.files.keys()],
});

describe('ADD', () => {
  it('runs the chain of each network in order, each plugin with the result of the one before', async () => {
    const it = withForeign('lan,wan@w');
    const { interfaces, ips } = JSON.parse(await it.call('ADD'));
    expect(it.plugins.log()).toEqual(['ADD bridge net1', 'ADD tuning net1', 'ADD bridge w']);
    expect(
      it.plugins.calls.map(({ config }) => [config['name'], config['cniVersion'], 'prevResult' in config]),
    ).toEqual([
      ['lan', '1.0.0', false],
      ['lan', '1.0.0', true],
      ['wan', '0.3.1', false],
    ]);
    expect(interfaces.map(({ name }: { name: string }) => name)).toEqual([
      ...[SANDBOX.slice(0, 15), 'eth0', 'veth0', 'net1', 'veth0', 'w'],
    ]);
    expect(ips.map((ip: { address: string; interface: number }) => [ip.address, ip.interface])).toEqual([
      ['10.128.0.3/23', 1],
      ['10.5.0.7/24', 3],
      ['10.6.0.7/24', 5],
    ]);
    expect(it.observations.map(({ phase }) => phase)).toContain('foreign-plugins');
  });

  it('gives plugins the environment of the runtime', async () => {
    const it = withForeign();
    await it.call('ADD');
    expect(it.plugins.calls[0]?.env).toEqual({
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: SANDBOX,
      CNI_NETNS: NETNS,
      CNI_IFNAME: 'net1',
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a;K8S_POD_INFRA_CONTAINER_ID=${SANDBOX};K8S_POD_UID=uid-a`,
    });
  });

  it('gives each plugin what it has the capability for, and a burst with each rate', async () => {
    const selection = { name: 'lan', mac: '02:00:00:00:00:09', bandwidth: { ingressRate: 5 }, 'cni-args': { b: [2] } };
    const it = withForeign(JSON.stringify([selection]));
    await it.call('ADD');
    expect(it.plugins.calls.map(({ config }) => [config['runtimeConfig'], config['args']])).toEqual([
      [
        { mac: '02:00:00:00:00:09', bandwidth: { ingressRate: 5, ingressBurst: 2_147_483_647 } },
        { cni: { a: 1, b: [2] }, other: 2 },
      ],
      [{ mac: '02:00:00:00:00:09' }, { cni: { b: [2] } }],
    ]);
  });

  it('takes away what an ADD has left that ended with its agent, also of a pod that selects nothing any more', async () => {
    const it = withForeign();
    await it.call('ADD');
    it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
    it.flush();
    await it.call('ADD');
    expect(it.plugins.log().slice(2)).toEqual(['DEL tuning net1', 'DEL bridge net1']);
    expect((await stateOf(it)).records).toEqual([]);
  });

  it('that fails takes back what was made, in reverse, ours too', async () => {
    const it = withForeign('wan,lan');
    it.plugins.answers.set('ADD tuning', pluginError('no such sysctl'));
    await expect(it.call('ADD')).rejects.toMatchObject({
      reason: 'foreignPlugin',
      message: 'ns/lan as net2: plugin tuning: no such sysctl',
    });
    expect(it.plugins.log().slice(3)).toEqual(['DEL tuning net2', 'DEL bridge net2', 'DEL bridge net1']);
    expect(await stateOf(it)).toEqual(NOTHING);
    expect(it.failures).toEqual(['ns/a: ns/lan as net2: plugin tuning: no such sysctl']);
  });

  it.each([
    [ended('', 3), 'it ended with status 3 and said nothing of CNI'],
    [ended('{"code":5,"msg":"x","details":"y"}', 1), 'x: y'],
    [ended('no JSON'), /^its result cannot be read: /],
    [ended('{"ips":[{"address":"x"}]}'), /^its result cannot be read: ips\[0\].address/],
    [
      { how: 'absent', number: 0, stdout: '' } as const,
      'there is no such program in the folders of CNI plugins of this node',
    ],
    [{ how: 'late', number: 0, stdout: '' } as const, 'it did not end in time'],
    [{ how: 'long', number: 0, stdout: '' } as const, 'it wrote more than a result may have'],
    [{ how: 'signal', number: 9, stdout: '' } as const, 'it was ended by signal 9'],
    [pluginError('x'.repeat(2000)), /^x{600}…$/],
  ])('says how a plugin ended: %j', async (answer, message) => {
    const it = withForeign('wan');
    it.plugins.answers.set('ADD bridge', answer);
    const said = await it.call('ADD').then(
      () => '',
      (error: Error) => error.message,
    );
    expect(said.slice('ns/wan as net1: plugin bridge: '.length)).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
    expect(await stateOf(it)).toEqual(NOTHING);
  });

  it('that is asked to come again later says so', async () => {
    const it = withForeign('wan');
    it.plugins.answers.set('ADD bridge', pluginError('busy', 11));
    await expect(it.call('ADD')).rejects.toMatchObject({ reason: 'tryAgainLater' });
  });

  it('after one that has ended without an answer takes away what that has made', async () => {
    const it = withForeign('lan');
    await it.call('ADD');
    it.plugins.calls.length = 0;
    await it.call('ADD');
    expect(it.plugins.log()).toEqual(['DEL tuning net1', 'DEL bridge net1', 'ADD bridge net1', 'ADD tuning net1']);
  });

  it('writes down what it begins before it runs, so that DEL finds it whatever happens', async () => {
    const it = withForeign('lan');
    it.plugins.answers.set('ADD bridge', () => {
      expect(JSON.parse(it.store.files.get(SANDBOX) ?? '')).toMatchObject({
        pod: { namespace: 'ns', name: 'a', uid: 'uid-a' },
        attachments: [{ nadKey: 'ns/lan', ifName: 'net1' }],
      });
      return ended('{}');
    });
    await it.call('ADD');
    expect.hasAssertions();
  });

  it('of a pod without any runs nothing and writes nothing', async () => {
    const it = withForeign('');
    await it.call('ADD');
    await it.call('DEL');
    expect(it.plugins.calls).toEqual([]);
  });

  it('whose rollback fails says both, and DEL makes it good', async () => {
    const it = withForeign('lan');
    it.plugins.answers.set('ADD tuning', pluginError('no'));
    it.plugins.answers.set('DEL bridge', pluginError('device busy'));
    await expect(it.call('ADD')).rejects.toThrow(
      'ns/lan as net1: plugin tuning: no; rollback failed: ns/lan as net1: plugin bridge: device busy',
    );
    expect(await stateOf(it)).toMatchObject({ ports: [], links: [], records: [SANDBOX] });
    it.plugins.answers.clear();
    await it.call('DEL');
    expect(await stateOf(it)).toEqual(NOTHING);
  });
});

describe('DEL', () => {
  it('runs all plugins backwards, with what ADD had and what it has returned, also when the NAD is another one or gone', async () => {
    const it = withForeign('lan,wan');
    await it.call('ADD');
    it.plugins.calls.length = 0;
    it.cluster.facts.set('foreignNad', 'ns/lan', undefined);
    it.cluster.facts.set('pod', 'ns/a', undefined);
    it.flush();
    await it.call('DEL', { netns: '' });
    expect(it.plugins.log()).toEqual(['DEL bridge net2', 'DEL tuning net1', 'DEL bridge net1']);
    // CNI has no result of ADD in DEL before 0.4.0.
    expect(it.plugins.calls.map(({ config }) => 'prevResult' in config)).toEqual([false, true, true]);
    expect(it.plugins.calls.map(({ env }) => env['CNI_NETNS'])).toEqual(['', '', '']);
    expect(await stateOf(it)).toEqual(NOTHING);
  });

  it('goes on where one fails, says which at the end, and keeps that one on record', async () => {
    const it = withForeign('lan,wan');
    await it.call('ADD');
    it.plugins.answers.set('DEL tuning', pluginError('no'));
    await expect(it.call('DEL')).rejects.toThrow('ns/lan as net1: plugin tuning: no');
    expect(await stateOf(it)).toMatchObject({ ports: [], links: [], records: [SANDBOX] });
    it.plugins.answers.clear();
    it.plugins.calls.length = 0;
    await it.call('DEL');
    expect(it.plugins.log()).toEqual(['DEL tuning net1', 'DEL bridge net1']);
    expect(await stateOf(it)).toEqual(NOTHING);
  });
});

describe('CHECK', () => {
  it('asks every plugin, with the result of ADD', async () => {
    const it = withForeign('lan');
    await it.call('ADD');
    it.plugins.calls.length = 0;
    expect(await it.call('CHECK')).toBe('');
    expect(it.plugins.log()).toEqual(['CHECK bridge net1', 'CHECK tuning net1']);
    expect(it.plugins.calls.every(({ config }) => 'prevResult' in config)).toBe(true);
  });

  it('names what is missing', async () => {
    const it = withForeign('lan');
    await it.call('ADD');
    it.plugins.made.clear();
    await expect(it.call('CHECK')).rejects.toThrow('ns/lan as net1: plugin bridge: net1 is not there');
    await it.store.write({ containerId: SANDBOX, pod: { namespace: 'ns', name: 'a' }, attachments: [] });
    await expect(it.call('CHECK')).rejects.toThrow('ns/lan as net1 is not attached');
  });

  it('is not passed on to a network that has none', async () => {
    const it = withForeign('wan');
    await it.call('ADD');
    expect(await it.call('CHECK')).toBe('');
    expect(it.plugins.log()).toEqual(['ADD bridge net1']);
  });
});

it('GC takes away what no valid attachment has, and leaves the others', async () => {
  const it = withForeign('lan');
  await it.call('ADD');
  const valid = (sandbox: string) => ({ 'cni.dev/valid-attachments': [{ containerID: sandbox, ifname: 'eth0' }] });
  await it.call('GC', { config: valid(SANDBOX) });
  expect(it.plugins.made.size).toBe(2);
  await it.call('GC', { config: valid('another') });
  expect(await stateOf(it)).toEqual(NOTHING);
  expect(it.garbage).toContain(SANDBOX);
});

it('GC takes away last what it could not take away before', async () => {
  const it = withForeign('lan');
  await it.call('ADD');
  const record = await it.store.read(SANDBOX);
  if (record === undefined) throw new Error('there is no record');
  await it.store.write({ ...record, containerId: 'later' });
  const order = () => it.plugins.calls.map(({ env }) => env['CNI_CONTAINERID']);
  it.plugins.answers.set('DEL bridge', () =>
    order().at(-1) === SANDBOX ? { how: 'late', number: 0, stdout: '' } : pluginError('not yet'),
  );
  for (const expected of [
    [SANDBOX, 'later'],
    [SANDBOX, 'later'],
    ['new', SANDBOX, 'later'],
  ]) {
    if (expected[0] === 'new') await it.store.write({ ...record, containerId: 'new' });
    it.plugins.calls.length = 0;
    await expect(it.call('GC', { config: { 'cni.dev/valid-attachments': [] } })).rejects.toThrow(/did not end in time/);
    expect([...new Set(order())]).toEqual(expected);
  }
});
