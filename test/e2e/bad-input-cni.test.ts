/** What a container runtime or a pod's author can get wrong, through the real shim and agent. Needs root and `make build`. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { PODS } from '../../kube/resources.ts';
import type { Objects, Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { untilNothingLeaks } from './support/faults/leaks.ts';
import { requireReachability } from './support/faults/reachability.ts';
import { CONFIG, callShim, podArguments } from './support/faults/shim.ts';
import { seenOverHttp } from './support/networks/north-south.ts';

const NODE = 'node-1';
const WAIT_SECONDS = 6;
/** More than the shim takes. */
const OVERSIZED = (1 << 20) + 1;

let sandbox: Sandbox;
let objects: Objects;

beforeAll(async () => {
  sandbox = await startCluster({ name: 'test-bad-cni', settings: { UDN_CNI_WAIT: String(WAIT_SECONDS) } });
  objects = await sandbox.objects();
  await objects.apply([
    namespace('red'),
    layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
    pod('red', 'red-1', NODE),
    pod('red', 'red-2', 'node-2'),
    namespace('green'),
    layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
    pod('green', 'green-1', NODE),
    namespace('lonely'),
    plainNamespace('plain'),
  ]);
  await Promise.all(['red/red-1', 'red/red-2', 'green/green-1'].map((key) => objects.wait('pod', key, 'ready')));
});
afterAll(() => sandbox?.down());

describe('standard input', () => {
  const name = 'ovn-kubernetes';
  const whole = JSON.stringify(CONFIG);

  it.each([
    ['nothing', '', 6, /standard input is not JSON/],
    ['half of it', whole.slice(0, whole.length / 2), 6, /standard input is not JSON/],
    ['no text', '\0\x01\x02', 6, /standard input is not JSON/],
    ['deep nesting', '['.repeat(500_000), 6, /standard input is not JSON/],
    ['too much', `"${'x'.repeat(OVERSIZED)}"`, 6, /longer than 1048576 bytes/],
    ['null', 'null', 7, /must be an object, is null/],
    ['a list', '[]', 7, /must be an object, is an array/],
    ['no name', JSON.stringify({ cniVersion: '1.1.0' }), 7, /name: is required/],
    ['an empty name', JSON.stringify({ ...CONFIG, name: '' }), 7, /name: /],
    ['a version of the future', JSON.stringify({ cniVersion: '99.0.0', name }), 1, /99\.0\.0/],
    ['a version that is none', JSON.stringify({ cniVersion: {}, name }), 1, /version/],
    ['an MTU that is none', JSON.stringify({ ...CONFIG, mtu: 'big' }), 7, /mtu: must be a number/],
    [
      'a broken earlier result',
      JSON.stringify({ ...CONFIG, prevResult: { ips: [{ address: 'x' }] } }),
      7,
      /CNI result: /,
    ],
  ])('with %s', async (_, stdin, code, message) => {
    for (const command of ['ADD', 'CHECK', 'DEL']) {
      const answer = await callShim(sandbox, NODE, {
        command,
        stdin,
        netns: '/run/netns/x',
        args: podArguments('red', 'red-1'),
      });
      expect(answer, command).toMatchObject({ status: 1, body: { code, msg: expect.stringMatching(message) } });
    }
  });

  it('GC with a broken list takes nothing away', async () => {
    const stdin = JSON.stringify({ ...CONFIG, 'cni.dev/valid-attachments': [{ containerID: 5 }] });
    const answer = await callShim(sandbox, NODE, { command: 'GC', stdin });
    expect(answer).toMatchObject({ status: 1, body: { code: 7, msg: expect.stringContaining('valid-attachments') } });
    await untilNothingLeaks(sandbox);
  });
});

describe('the environment', () => {
  const args = podArguments('red', 'red-1');
  it.each([
    ['no CNI_ARGS', { args: '' }, /CNI_ARGS/],
    ['CNI_ARGS without a name', { args: 'K8S_POD_NAMESPACE=red' }, /K8S_POD_NAME/],
    ['CNI_ARGS that are none', { args: 'red/red-1' }, /CNI_ARGS/],
    ['CNI_ARGS without end', { args: `${args};X=${'x'.repeat(100_000)}` }, /CNI_ARGS/],
    ['no container', { args, containerId: '' }, /CNI_CONTAINERID/],
    ['a container that is a path', { args, containerId: '../../etc' }, /CNI_CONTAINERID/],
    ['no namespace', { args, netns: '' }, /CNI_NETNS/],
    ['a namespace that is not there', { args, netns: '/run/netns/gone' }, /CNI_NETNS/],
    ['a namespace that is a file', { args, netns: '/etc/passwd' }, /CNI_NETNS/],
    ['an interface that is a path', { args, netns: '/run/netns/x', env: { CNI_IFNAME: '../eth0' } }, /CNI_IFNAME/],
  ])('with %s', async (_, call, message) => {
    const answer = await callShim(sandbox, NODE, { command: 'ADD', netns: '/run/netns/x', ...call });
    expect(answer).toMatchObject({ status: 1, body: { code: 4, msg: expect.stringMatching(message) } });
  });

  it('with a command that is none', async () => {
    const answer = await callShim(sandbox, NODE, { command: 'BREAK', args });
    expect(answer).toMatchObject({ status: 1, body: { code: 4, msg: expect.stringContaining('CNI_COMMAND') } });
  });
});

describe('callers of the agent’s socket that break off, hang or talk nonsense', () => {
  it('keep nobody else from being served', async () => {
    const path = await socketPath();
    const sockets = Array.from({ length: 300 }, (_, i) => {
      const socket = connect(path).on('error', () => undefined);
      socket.write(
        ['udn-cni/1 ', 'udn-cni/1 100 100\nCNI_COMMAND=ADD', 'GET / HTTP/1.1\r\n\r\n', '\0'.repeat(50)][i % 4] ?? '',
      );
      if (i % 3 === 0) socket.end();
      return socket;
    });
    await new Promise((resolve) => sockets.at(-1)?.once('connect', resolve));
    const { status, milliseconds } = await callShim(sandbox, NODE, { command: 'STATUS' });
    expect(status).toBe(0);
    expect(milliseconds).toBeLessThan(2_000);
    for (const socket of sockets) socket.destroy();
  });
});

describe('ADD of a pod', () => {
  it.concurrent.each([
    ['that does not exist', podArguments('red', 'nobody'), /red\/nobody is not on this node/, /no such pod/],
    [
      'with another UID',
      podArguments('red', 'red-1', 'other'),
      /red\/red-1 is not on this node/,
      /request is for UID other/,
    ],
    ['of another node', podArguments('red', 'red-2'), /red\/red-2 is not on this node/, /no such pod on this node/],
  ])('%s is refused after a moment', async (_, args, message, details) => {
    const answer = await callShim(sandbox, NODE, { command: 'ADD', args, netns: '/run/netns/x' });
    expect(answer).toMatchObject({
      status: 1,
      body: { code: 102, msg: expect.stringMatching(message), details: expect.stringMatching(details) },
    });
    expect(answer.milliseconds).toBeLessThan(7_000);
    const again = await callShim(sandbox, NODE, { command: 'DEL', args });
    expect(again.status).toBe(0);
  });
});

describe('a namespace with the label and no network', () => {
  const reason =
    /namespace lonely has the label k8s\.ovn\.org\/primary-user-defined-network and no primary network yet/;

  it('its pods wait, say why while they wait, and then fail; pods of others are not held up', async () => {
    const start = performance.now();
    await objects.apply([pod('lonely', 'lonely-1', NODE)]);
    await eventually(async () =>
      expect(await eventsOf(sandbox, 'lonely', 'lonely-1')).toContainEqual(
        expect.objectContaining({ reason: 'ErrorAttachingPod', message: expect.stringMatching(reason) }),
      ),
    );
    expect(performance.now() - start).toBeLessThan(WAIT_SECONDS * 1000);
    await objects.apply([pod('red', 'red-3', NODE), pod('green', 'green-2', NODE)]);
    await Promise.all(
      ['red/red-3', 'green/green-2'].map((key) => objects.wait('pod', key, 'ready', { timeoutSeconds: 5 })),
    );
    await eventually(async () =>
      expect(await eventsOf(sandbox, 'lonely', 'lonely-1')).toContainEqual(
        expect.objectContaining({ reason: 'FailedCreatePodSandBox', message: expect.stringMatching(reason) }),
      ),
    );
    expect(performance.now() - start).toBeGreaterThan(WAIT_SECONDS * 1000);
  });

  it('ADD by hand gets a CNI error with the reason', async () => {
    const { metadata } = await objects.get('pod', 'lonely/lonely-1');
    await sandbox.kill(NODE, 'kubelet', 'SIGSTOP');
    const args = podArguments('lonely', 'lonely-1', metadata.uid);
    const answer = await callShim(sandbox, NODE, { command: 'ADD', args, netns: '/run/netns/x' });
    await sandbox.kill(NODE, 'kubelet', 'SIGCONT');
    expect(answer).toMatchObject({ status: 1, body: { code: 101, msg: expect.stringMatching(reason) } });
    expect(answer.milliseconds).toBeGreaterThan(WAIT_SECONDS * 1000 - 500);
  });

  it('when the network comes, they start without anybody’s help', async () => {
    await objects.apply([layer3('lonely', 'net', ['10.62.0.0/16/24', 'fd00:62::/48/64'])]);
    await objects.wait('pod', 'lonely/lonely-1', 'ready', { timeoutSeconds: 10 });
  });
});

describe(`the annotation ${POD_ANNOTATIONS.networks}`, () => {
  const annotated = (inNamespace: string, name: string, value: string) =>
    pod(inNamespace, name, NODE, { [POD_ANNOTATIONS.networks]: value });

  it.each([
    ['no-json', 'not json'],
    ['a-list', '[]'],
    ['null', 'null'],
    ['a-number', '{"default":5}'],
    ['no-address', '{"default":{"ip_addresses":["x"],"mac_address":"y"},"red/net":[]}'],
    [
      'no-port-key',
      '{"green/net":{"ip_addresses":["10.61.0.9/16"],"mac_address":"0a:58:0a:3d:00:09","tunnel_id":99999}}',
    ],
  ])('that cannot be read (%s) is written again, and the pod gets an event', async (what, value) => {
    for (const inNamespace of ['red', 'green']) {
      const name = `bad-${inNamespace}-${what}`;
      await objects.apply([annotated(inNamespace, name, value)]);
      await objects.wait('pod', `${inNamespace}/${name}`, 'ready', { timeoutSeconds: 10 });
      expect(await eventsOf(sandbox, inNamespace, name)).toContainEqual({
        type: 'Normal',
        reason: 'AnnotationRepaired',
        message: expect.stringMatching(/^overwritten: .*k8s\.ovn\.org\/pod-networks/),
      });
      await objects.delete([pod(inNamespace, name, NODE)]);
    }
  });

  it.each([
    ['nothing', ''],
    ['networks-that-do-not-exist', '{"no/such":{"ip_addresses":["10.9.9.9/24"],"mac_address":"0a:58:0a:09:09:09"}}'],
  ])('with %s: the pod gets what it should have', async (what, value) => {
    await objects.apply([annotated('red', what, value)]);
    await objects.wait('pod', `red/${what}`, 'ready', { timeoutSeconds: 10 });
    await objects.delete([pod('red', what, NODE)]);
  });

  it('with an address of another pod: that one keeps it; a layer-3 pod gets another, a layer-2 pod gets an event', async () => {
    for (const [inNamespace, nadKey] of [
      ['red', 'default'],
      ['red', 'red/net'],
      ['green', 'green/net'],
    ] as const) {
      const victim = `${inNamespace}/${inNamespace}-1`;
      const stolen = JSON.parse(await annotationOf(victim))[nadKey];
      const name = `thief-${nadKey.replace('/', '-')}`;
      await objects.apply([annotated(inNamespace, name, JSON.stringify({ [nadKey]: stolen }))]);
      await eventually(async () => {
        const message = expect.stringContaining(victim);
        expect(await eventsOf(sandbox, inNamespace, name)).toContainEqual(expect.objectContaining({ message }));
      });
      if (inNamespace === 'red') {
        await objects.wait('pod', `red/${name}`, 'ready', { timeoutSeconds: 10 });
        expect(JSON.parse(await annotationOf(`red/${name}`))[nadKey].ip_addresses).not.toEqual(stolen.ip_addresses);
      }
      await objects.apply([pod(inNamespace, 'asks', 'node-2')]);
      await objects.wait('pod', `${inNamespace}/asks`, 'ready', { timeoutSeconds: 10 });
      const address = addressOn(await annotationOf(victim), `${inNamespace}/net`);
      const url = `http://${address}:8080/hostname`;
      const { stdout } = await eventually(() => sandbox.exec(`${inNamespace}/asks`, ['curl', '-sm2', url]));
      expect(stdout).toBe(`${inNamespace}-1`);
      await objects.delete([pod(inNamespace, 'asks', 'node-2'), pod(inNamespace, name, NODE)]);
    }
  });

  const entry = (ip: string, mac = '0a:58:0a:0a:0a:0a', more: Record<string, unknown> = {}) => ({
    ip_addresses: [ip],
    mac_address: mac,
    ...more,
  });
  it('that has what is no pod’s: the pod gets no port but reasons, by events and by the container runtime', async () => {
    const cases = [
      ['gateway', 'red', 'default', () => [hostOf('red', 'default', 1)], /is the gateway of/],
      ['management-port', 'red', 'default', () => [hostOf('red', 'default', 2)], /is the management port of/],
      ['other-node', 'red', 'red/net', () => ['10.60.200.5/24'], /is not in .*where the pod's addresses are/],
      ['service', 'red', 'red/net', () => ['172.16.1.1/24'], /is not in/],
      ['multicast', 'plain', 'default', () => ['224.0.0.5/24'], /is not in/],
      ['outside', 'plain', 'default', () => ['172.30.255.254/24'], /is not in/],
      ['mac', 'green', 'green/net', () => ['10.61.0.77/16', '0a:58:0a:3d:00:01'], /mac_address: .* is the gateway's/],
      ['gateway-2', 'green', 'green/net', () => ['10.61.0.1/16'], /is the gateway of/],
      ['broadcast', 'green', 'green/net', () => ['10.61.255.255/16'], /is the broadcast address of/],
      ['key', 'green', 'green/net', () => ['10.61.0.78/16', undefined, { tunnel_id: 2 }], /tunnel_id: 2 is a router's/],
      [
        'unlocked',
        'red',
        'default',
        () => [hostOf('red', 'default', 99), undefined, { role: 'primary' }],
        /role: is primary/,
      ],
    ] as const;
    const pods = await Promise.all(
      cases.map(async ([what, inNamespace, nadKey, make]) => {
        const [ip, mac, more] = make() as unknown as readonly [
          string | Promise<string>,
          string?,
          Record<string, unknown>?,
        ];
        return annotated(inNamespace, `bad-${what}`, JSON.stringify({ [nadKey]: entry(await ip, mac, more) }));
      }),
    );
    await objects.apply(pods);
    for (const [what, inNamespace, , , reason] of cases) {
      for (const event of ['ErrorAllocatingPod', 'FailedCreatePodSandBox']) {
        await eventually(async () =>
          expect(await eventsOf(sandbox, inNamespace, `bad-${what}`), what).toContainEqual(
            expect.objectContaining({ reason: event, message: expect.stringMatching(reason) }),
          ),
        );
      }
    }
    const { stdout } = await sandbox.node(NODE, [
      'ovn-nbctl',
      '--bare',
      '--columns=name',
      'find',
      'Logical_Switch_Port',
    ]);
    expect(stdout.split('\n').filter((name) => name.includes('_bad-'))).toEqual([]);
    await objects.apply([pod('red', 'beside', NODE)]);
    await objects.wait('pod', 'red/beside', 'ready', { timeoutSeconds: 10 });
    await objects.delete([...pods, pod('red', 'beside', NODE)]);
  });

  it('that is damaged or taken away while the pod runs takes nothing away from the pod', async () => {
    const client = await sandbox.client();
    const write = (namespace: string, name: string, value: string | null): Promise<unknown> =>
      client.patch(
        PODS,
        { namespace, name },
        {
          type: 'merge',
          body: { metadata: { annotations: { [POD_ANNOTATIONS.networks]: value } } },
        },
      );
    const before = await annotationOf('red/red-1');
    for (const value of ['not json', '{}', null]) {
      await write('red', 'red-1', value);
      await write('green', 'green-1', value);
      await objects.apply([pod('red', 'later', NODE)]);
      await objects.wait('pod', 'red/later', 'ready', { timeoutSeconds: 10 });
      await sandbox.exec('red/later', ['ping', '-c4', '-i0.2', '-W1', addressOn(before, 'red/net')]);
      await objects.delete([pod('red', 'later', NODE)]);
    }
    await eventually(async () => expect(JSON.parse(await annotationOf('red/red-1'))).toEqual(JSON.parse(before)));
  });
});

describe('a pod whose port would have the name of the node’s localnet port', () => {
  it('gets none, whether it starts or not, and pods go on reaching the outside', async () => {
    const nodes = (await sandbox.status()).nodes.map(({ name }) => name);
    await objects.apply([
      plainNamespace('br-ex'),
      ...nodes.flatMap((node) => [pod('br-ex', node, node), pod('plain', `on-${node}`, node)]),
    ]);
    for (const node of nodes) {
      await objects.wait('pod', `plain/on-${node}`, 'ready', { timeoutSeconds: 20 });
      await eventually(async () =>
        expect(await eventsOf(sandbox, 'br-ex', node)).toContainEqual({
          type: 'Warning',
          reason: 'ErrorAllocatingPod',
          message: `its port name br-ex_${node} belongs to the node's localnet port; rename the pod`,
        }),
      );
      await eventually(async () => expect(await seenOverHttp(sandbox, `plain/on-${node}`, 4)).not.toBe(''));
      const owners = await sandbox.node(node, ['ovn-nbctl', 'lsp-list', node]);
      expect(owners.stdout).not.toContain(`br-ex_${node}`);
    }
    await objects.delete(nodes.flatMap((node) => [pod('br-ex', node, node), pod('plain', `on-${node}`, node)]));
  });
});

it('in the end every pod works, and nothing else is there', async () => {
  await untilNothingLeaks(sandbox);
  expect(await requireReachability(sandbox)).toBeGreaterThan(0);
});

const annotationOf = async (key: string): Promise<string> =>
  (await objects.get('pod', key)).metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '';

/** An address of this node's part of a network, with its prefix length. */
const hostOf = async (namespace: string, nadKey: string, host: number): Promise<string> => {
  const networks = JSON.parse(await annotationOf(`${namespace}/${namespace}-1`)) as Record<
    string,
    { ip_addresses: string[] }
  >;
  const [address = '', length = ''] =
    networks[nadKey]?.ip_addresses.find((one) => !one.includes(':'))?.split('/') ?? [];
  return `${address.replace(/[0-9]+$/, String(host))}/${length}`;
};

const addressOn = (annotation: string, network: string): string => {
  const networks = JSON.parse(annotation) as Record<string, { ip_addresses: string[] }>;
  return networks[network]?.ip_addresses[0]?.split('/')[0] ?? '';
};

const socketPath = async (): Promise<string> => {
  const { nodes } = await sandbox.status();
  const pid = nodes.find(({ name }) => name === NODE)?.pid;
  return join('/proc', String(pid), 'root/run/ovn-udn/cni.sock');
};
