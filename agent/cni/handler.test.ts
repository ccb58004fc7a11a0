import { describe, expect, it } from 'vitest';
import { NETNS, SANDBOX, setUp, withPod, withTenant } from '../testing/cni-handler.ts';

describe('ADD', () => {
  it('answers with both ends of the interface and the address in the pod', async () => {
    const it = withPod();
    expect(JSON.parse(await it.call('ADD'))).toEqual({
      cniVersion: '1.1.0',
      interfaces: [
        { name: SANDBOX.slice(0, 15) },
        { name: 'eth0', mac: '0a:58:0a:80:00:03', mtu: 1400, sandbox: NETNS },
      ],
      ips: [{ address: '10.128.0.3/23', interface: 1 }],
      dns: {},
    });
    expect(it.ports.all()).toEqual([
      expect.objectContaining({ name: SANDBOX.slice(0, 15), logicalPort: 'ns_a', podUid: 'uid-a', isInstalled: true }),
    ]);
  });

  it('plugs eth0 and ovn-udn1 of a tenant, the second with an index of its own', async () => {
    const it = withTenant();
    const result = JSON.parse(await it.call('ADD', { pod: 'red/a' }));
    expect(result.interfaces.map(({ name }: { name: string }) => name)).toEqual([
      SANDBOX.slice(0, 15),
      'eth0',
      `${SANDBOX.slice(0, 13)}_1`,
      'ovn-udn1',
    ]);
    expect(result.ips).toEqual([
      { address: '10.128.0.4/23', interface: 1 },
      { address: '10.20.1.3/24', interface: 3 },
    ]);
    expect(it.ports.transactions).toBe(1);
  });

  it('may be repeated', async () => {
    const it = withPod();
    const first = await it.call('ADD');
    expect(await it.call('ADD')).toBe(first);
    expect(it.ports.all()).toHaveLength(1);
  });

  it('waits for the addresses and goes on when they are there', async () => {
    const it = setUp();
    it.cluster.pod('ns/a', { node: 'node1', networks: {} });
    it.flush();
    const answer = it.call('ADD');
    it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
    it.flush();
    expect(JSON.parse(await answer).ips).toHaveLength(1);
  });

  it('says what it waited for when the network does not come, and reports it to the pod', async () => {
    const it = setUp();
    it.cluster.namespace('blue', true).pod('blue/a', { node: 'node1', networks: {} });
    it.flush();
    const answer = it.call('ADD', { pod: 'blue/a' });
    answer.catch(() => undefined);
    await it.clock.advance(3_000);
    expect(it.failures).toEqual([expect.stringMatching(/^blue\/a: waiting: .*no primary network yet/)]);
    await it.clock.advance(47_000);
    await expect(answer).rejects.toMatchObject({
      reason: 'networkNotReady',
      message: expect.stringMatching(/namespace blue has the label .* and no primary network yet/),
    });
    expect(it.failures.slice(1)).toEqual([expect.stringMatching(/^blue\/a: pod .*no primary network yet/)]);
    expect(it.clock.pending).toBe(0);
  });

  it('waits for nothing when no address that comes would give the pod a port', async () => {
    const it = setUp();
    it.cluster.pod('ns/a', { node: 'node1', networks: {}, barred: 'its port name is taken' });
    it.flush();
    await expect(it.call('ADD')).rejects.toMatchObject({
      reason: 'networkNotReady',
      message: 'pod ns/a has no addresses: its port name is taken',
    });
    expect(it.clock.pending).toBe(0);
  });

  it('names CNI_NETNS when there is no such namespace', async () => {
    const it = withPod();
    await expect(it.call('ADD', { netns: '/run/netns/gone' })).rejects.toMatchObject({
      reason: 'invalidEnvironment',
      message: 'CNI_NETNS: /run/netns/gone is not a network namespace (any more)',
    });
    expect(it.ports.all()).toEqual([]);
  });

  it.each([
    ['an unknown pod', { pod: 'ns/unknown' }, /the API server has no such pod on this node/],
    [
      'another pod of that name',
      { uid: 'uid-other' },
      /a pod of this name with UID uid-a, the request is for UID uid-other/,
    ],
  ])('refuses %s', async (_, request, details) => {
    const it = withPod();
    const answer = it.call('ADD', request);
    answer.catch(() => undefined);
    await it.clock.advance(5_000);
    await expect(answer).rejects.toMatchObject({ reason: 'podGone', details: expect.stringMatching(details) });
  });

  it('takes back what it made when ovn-controller does not install the port', async () => {
    const it = withPod();
    it.ports.installs = false;
    const answer = it.call('ADD');
    answer.catch(() => undefined);
    await expect.poll(() => it.ports.all().length).toBe(1);
    await it.clock.advance(50_000);
    await expect(answer).rejects.toMatchObject({ reason: 'notInstalled', message: expect.stringContaining('ns_a') });
    expect(it.ports.all()).toEqual([]);
    expect(await it.netlink.pods.list()).toEqual([]);
  });

  it("plugs the port as soon as the node's end is there, and takes it back when the pod's end fails", async () => {
    const it = withPod();
    const podEnd = Promise.withResolvers<never>();
    it.netlink.pods.ensure = (_pod, _signal, onLinked) => {
      onLinked?.();
      return podEnd.promise;
    };
    const answer = it.call('ADD');
    answer.catch(() => undefined);
    await expect.poll(() => it.ports.all().length).toBe(1);
    podEnd.reject(new Error('the address is refused'));
    await expect(answer).rejects.toThrow('the address is refused');
    expect(it.ports.all()).toEqual([]);
  });

  it('sets a link up that ovs-vswitchd has set down while it opened it', async () => {
    const it = withTenant();
    it.ports.userspace = true;
    it.ports.onOpen = (names) =>
      it.kernel.netns().apply(names.map((name) => ({ op: 'link.set', name, change: { up: false } })));
    await it.call('ADD', { pod: 'red/a' });
    const ends = it.kernel
      .netns()
      .links()
      .filter(({ name }) => name.startsWith(SANDBOX.slice(0, 13)));
    expect(ends.map(({ up }) => up)).toEqual([true, true]);
  });

  it('fails when that link is gone', async () => {
    const it = withPod();
    it.ports.userspace = true;
    it.ports.onOpen = (names) => it.kernel.netns().apply(names.map((name) => ({ op: 'link.delete', name })));
    await expect(it.call('ADD')).rejects.toThrow(SANDBOX.slice(0, 15));
    expect(it.ports.all()).toEqual([]);
  });

  it('ends when the pod is deleted while ovn-controller is at it', async () => {
    const it = withPod();
    it.ports.installs = false;
    const answer = it.call('ADD');
    answer.catch(() => undefined);
    await expect.poll(() => it.ports.all().length).toBe(1);
    it.cluster.facts.set('pod', 'ns/a', undefined);
    it.flush();
    await expect(answer).rejects.toMatchObject({ reason: 'podGone' });
    expect(it.ports.all()).toEqual([]);
  });

  it('of a newer sandbox ends the older one', async () => {
    const it = withPod();
    it.ports.installs = false;
    const older = it.call('ADD');
    older.catch(() => undefined);
    await expect.poll(() => it.ports.all().length).toBe(1);
    it.ports.installs = true;
    it.kernel.addNetns('/run/netns/cni-2');
    const newer = it.call('ADD', { sandbox: 'feedface00000000feedface00000000', netns: '/run/netns/cni-2' });
    await expect(older).rejects.toMatchObject({ reason: 'podGone', message: expect.stringContaining('superseded') });
    expect(JSON.parse(await newer).interfaces[0].name).toBe('feedface0000000');
    expect(it.ports.all().map(({ name }) => name)).toEqual(['feedface0000000']);
  });

  it('of a secondary network is refused', async () => {
    const it = withPod();
    await expect(it.call('ADD', { config: { netAttachDefName: 'ns/second' } })).rejects.toMatchObject({
      reason: 'invalidConfig',
      message: expect.stringContaining('makes all attachments of a pod by one ADD (--multi-network=native)'),
    });
  });

  it('of a secondary network leaves nothing for DEL, which spares the other interfaces', async () => {
    const it = withPod();
    await it.call('ADD');
    await it.call('DEL', { config: { netAttachDefName: 'ns/second' } });
    expect(it.ports.all()).toHaveLength(1);
    await it.call('DEL');
    expect(it.ports.all()).toEqual([]);
  });

  it('is timed by phase', async () => {
    const it = withPod();
    await it.call('ADD');
    expect(it.observations.map(({ phase }) => phase)).toEqual([
      'addresses',
      'interfaces',
      'ovs-port',
      'ovn-installed',
      'total',
    ]);
  });
});

describe('DEL', () => {
  it('takes everything away, also when the pod is gone from the API, and may be repeated', async () => {
    const it = withTenant();
    await it.call('ADD', { pod: 'red/a' });
    it.cluster.facts.set('pod', 'red/a', undefined);
    it.flush();
    expect(await it.call('DEL', { pod: 'red/a' })).toBe('');
    expect(it.ports.all()).toEqual([]);
    expect(await it.netlink.pods.list()).toEqual([]);
    expect(await it.call('DEL', { pod: 'red/a' })).toBe('');
  });

  it('succeeds when the namespace is gone', async () => {
    const it = withPod();
    await it.call('ADD');
    expect(await it.call('DEL', { netns: '' })).toBe('');
    expect(await it.netlink.pods.list()).toEqual([]);
  });

  it('ends an ADD of the same sandbox that waits', async () => {
    const it = setUp();
    it.cluster.pod('ns/a', { node: 'node1', networks: {} });
    it.flush();
    const add = it.call('ADD');
    add.catch(() => undefined);
    expect(await it.call('DEL')).toBe('');
    await expect(add).rejects.toMatchObject({ reason: 'podGone' });
    expect(it.failures).toEqual([]);
  });
});

describe('CHECK', () => {
  it('is content with what ADD made, and names what is missing', async () => {
    const it = withPod();
    await it.call('ADD');
    expect(await it.call('CHECK')).toBe('');
    await it.ports.unplug([SANDBOX.slice(0, 15)]);
    await expect(it.call('CHECK')).rejects.toThrow(/port 0123456789abcde of ns_a is not installed/);
  });
});

describe('GC', () => {
  it('keeps what is valid and takes the rest away', async () => {
    const it = withTenant();
    it.cluster.pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } });
    it.flush();
    it.kernel.addNetns('/run/netns/cni-2');
    await it.call('ADD', { pod: 'red/a' });
    await it.call('ADD', { sandbox: 'feedface00000000feedface00000000', netns: '/run/netns/cni-2' });
    const config = {
      'cni.dev/valid-attachments': [{ containerID: 'feedface00000000feedface00000000', ifname: 'eth0' }],
    };
    expect(await it.call('GC', { config })).toBe('');
    expect(it.ports.all().map(({ name }) => name)).toEqual(['feedface0000000']);
    expect((await it.netlink.pods.list()).map(({ hostName }) => hostName)).toEqual(['feedface0000000']);
    expect(it.garbage.sort()).toEqual(['0123456789abc_1', '0123456789abcde'].sort());
  });

  it.each([
    ['that says nothing of attachments is refused', {}, /cni\.dev\/valid-attachments: is required/],
    ['of another network changes nothing', { name: 'other', 'cni.dev/valid-attachments': [] }, undefined],
    ['of a NAD changes nothing', { netAttachDefName: 'red/net', 'cni.dev/valid-attachments': [] }, undefined],
  ])('%s', async (_, config, refusal) => {
    const it = withPod();
    await it.call('ADD');
    const before = it.ports.all();
    if (refusal === undefined) expect(await it.call('GC', { config })).toBe('');
    else await expect(async () => it.call('GC', { config })).rejects.toThrow(refusal);
    expect([it.ports.all(), (await it.netlink.pods.list()).length, it.garbage]).toEqual([before, 1, []]);
  });
});

it('ADD under another name than eth0 is refused', async () => {
  const it = withPod();
  await expect(async () => it.call('ADD', { ifName: 'net1' })).rejects.toMatchObject({
    reason: 'invalidEnvironment',
    message: 'CNI_IFNAME must be eth0, not net1',
  });
});

it('STATUS says why no pod can be added', async () => {
  const it = setUp();
  expect(await it.call('STATUS')).toBe('');
  it.notReady.push('the Open_vSwitch database cannot be reached');
  await expect(it.call('STATUS')).rejects.toMatchObject({
    reason: 'pluginNotAvailable',
    message: 'not ready: the Open_vSwitch database cannot be reached',
  });
});
