/** The kubelet stand-in with a CNI plugin of its own. Needs root and `make build`. */
import { rm, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NODES, PODS } from '../../kube/resources.ts';
import { type ManifestObject, type Objects, openSandbox, type Sandbox, startSandbox } from '../index.ts';
import { untilNothingIsLeft } from '../leaks.ts';
import { eventually } from '../testing/eventually.ts';
import { CONF, CONF_FILE, failOn, fakeCniCalls, installFakeCni, succeedOn } from '../testing/fake-cni.ts';
import { type PodStatus, pod } from '../testing/kubelet-pods.ts';

const NAME = 'test-kubelet';
const NODE = 'node-1';
const SANDBOXES = '/var/lib/sandbox-kubelet/sandboxes';
let sandbox: Sandbox;
let objects: Objects;
let files: { pathOf(path: string): string };

beforeAll(async () => {
  sandbox = await startSandbox({ name: NAME, nodes: 1, programs: 'kubelet' });
  objects = await sandbox.objects();
  const { nodes } = await sandbox.status();
  files = { pathOf: (path) => `/proc/${nodes[0]?.pid}/root${path}` };
});
afterAll(async () => {
  await sandbox?.down();
  await untilNothingIsLeft(NAME);
});

const statusOf = async (name: string): Promise<PodStatus> => (await objects.get('pod', name))['status'] as PodStatus;
const callsOf = async (name: string): Promise<string[]> =>
  (await fakeCniCalls(files)).filter(({ args }) => args.includes(`K8S_POD_NAME=${name}`)).map(({ command }) => command);
const events = async (reason: string): Promise<string[]> =>
  (await objects.list('events')).filter((event) => event['reason'] === reason).map((event) => String(event['message']));
const onNode = async (...argv: string[]): Promise<string> => (await sandbox.node(NODE, argv)).stdout;

describe('the node', () => {
  it('is registered, and Ready only when CNI is configured and says so', async () => {
    const node = await objects.get('node', NODE);
    expect(node).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': NODE } },
      status: {
        addresses: [
          { type: 'InternalIP', address: '172.20.0.11' },
          { type: 'InternalIP', address: 'fd00:172:20::b' },
          { type: 'Hostname', address: NODE },
        ],
      },
    });
    const foreign = { type: 'Foreign', status: 'True' };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE }, status: { conditions: [foreign] } };
    const patch = { type: 'apply', body, fieldManager: 'other' } as const;
    await (await sandbox.client()).patch(NODES, { name: NODE }, patch, { subresource: 'status' });
    await objects.wait('node', NODE, 'condition=Ready=False');
    await failOn(files, 'STATUS', '{"cniVersion":"1.1.0","code":50,"msg":"not today"}');
    await installFakeCni(files);
    await eventually(async () => {
      expect(JSON.stringify(await objects.get('node', NODE))).toContain('CNI STATUS: not today');
    });
    await succeedOn(files, 'STATUS');
    await objects.wait('node', NODE, 'ready');
    // What other programs say of the node stays.
    await objects.wait('node', NODE, 'condition=Foreign=True');
  });

  it('is registered again when its object is lost', async () => {
    const client = await sandbox.client();
    const { metadata } = await objects.get('node', NODE);
    await client.delete(NODES, { name: NODE });
    await eventually(async () => {
      expect((await objects.get('node', NODE)).metadata.uid).not.toBe(metadata.uid);
    });
    await objects.wait('node', NODE, 'ready');
  });

  it('that loses its configuration is not Ready, and pods wait', async () => {
    await rm(files.pathOf(CONF_FILE));
    await objects.wait('node', NODE, 'condition=Ready=False');
    await objects.apply([pod('waits', { nodeName: NODE })]);
    await eventually(async () => {
      expect((await statusOf('waits')).containerStatuses[0]?.state.waiting?.reason).toBe('ContainerCreating');
    });
    expect(await callsOf('waits')).toEqual([]);
    await writeFile(files.pathOf(CONF_FILE), CONF);
    await objects.wait('pod', 'waits', 'ready');
    await objects.delete([pod('waits')]);
  });
});

describe('a pod', () => {
  const created: ManifestObject[] = [];
  const run = async (...pods: ManifestObject[]): Promise<void> => {
    created.push(...pods);
    await objects.apply(pods);
  };
  afterEach(async () => {
    for (const command of ['ADD', 'DEL']) await succeedOn(files, command);
    await objects.delete(created.splice(0));
    // The object of a pod that is done goes at once, what it had on the node a moment later.
    await eventually(async () => {
      const left = await onNode('ls', '/run/netns', SANDBOXES, '/sys/fs/cgroup/kubepods/besteffort');
      expect(left).not.toMatch(/cni-|\.json|pod[0-9a-f]{8}/);
    });
  });

  it('gets a node, a network, its name, and an address in its status', async () => {
    await run(pod('a'));
    await objects.wait('pod', 'a', 'ready');
    const status = await statusOf('a');
    expect(status).toMatchObject({ phase: 'Running', hostIP: '172.20.0.11' });
    expect(status.podIPs).toEqual([{ ip: status.podIP }]);
    const addresses = (await sandbox.exec('default/a', ['ip', '-br', 'addr', 'show', 'eth0'])).stdout;
    expect(addresses).toContain(`${status.podIP}/16`);
    expect((await sandbox.exec('default/a', ['curl', '-s', 'http://localhost:8080/hostname'])).stdout).toBe('a');
    expect((await sandbox.exec('default/a', ['getent', 'hosts', 'a'])).stdout).toContain(status.podIP);
    expect(await onNode('curl', '-sm5', `http://${status.podIP}:8080/clientip`)).toMatch(/^10\.77\.0\.1:\d+$/);
  });

  it('calls the plugin as a container runtime does', async () => {
    await run(pod('calls'));
    await objects.wait('pod', 'calls', 'ready');
    const [{ metadata }, calls] = [await objects.get('pod', 'calls'), await fakeCniCalls(files)];
    const add = calls.find(({ args }) => args.includes('K8S_POD_NAME=calls'));
    expect(add).toMatchObject({
      command: 'ADD',
      containerId: expect.stringMatching(/^[0-9a-f]{64}$/),
      netns: expect.stringMatching(/^\/run\/netns\/cni-[0-9a-f-]{36}$/),
    });
    expect(add?.args.split(';').sort()).toEqual([
      'IgnoreUnknown=1',
      `K8S_POD_INFRA_CONTAINER_ID=${add?.containerId}`,
      'K8S_POD_NAME=calls',
      'K8S_POD_NAMESPACE=default',
      `K8S_POD_UID=${metadata.uid}`,
    ]);
    expect(JSON.parse(await onNode('cat', '/run/fake-cni.calls.ADD'))).toEqual({
      cniVersion: '1.1.0',
      name: 'fake',
      type: 'fake-cni',
      greeting: 'hello',
    });
    await objects.delete([pod('calls')]);
    expect(await callsOf('calls')).toEqual(['ADD', 'DEL']);
    expect(JSON.parse(await onNode('cat', '/run/fake-cni.calls.DEL'))).toMatchObject({
      prevResult: { ips: [{ interface: 0 }] },
    });
  });

  it('is tried again with another container id after ADD has failed, and an event says why', async () => {
    await failOn(files, 'ADD', '{"cniVersion":"1.1.0","code":11,"msg":"come back later","details":"no agent"}');
    await run(pod('retry'));
    await eventually(async () => {
      expect((await callsOf('retry')).slice(0, 4)).toEqual(['ADD', 'DEL', 'ADD', 'DEL']);
    });
    await eventually(async () => {
      expect(await events('FailedCreatePodSandBox')).toContain(
        'Failed to create pod sandbox: come back later; no agent',
      );
    });
    expect((await statusOf('retry')).conditions.find(({ type }) => type === 'PodReadyToStartContainers')).toMatchObject(
      {
        status: 'False',
        message: 'come back later; no agent',
      },
    );
    await succeedOn(files, 'ADD');
    await objects.wait('pod', 'retry', 'ready');
    const ids = (await fakeCniCalls(files))
      .filter(({ args }) => args.includes('NAME=retry'))
      .map((call) => call.containerId);
    expect(new Set(ids.slice(0, 4)).size).toBe(2);
  });

  it('is not gone before DEL has succeeded', async () => {
    await run(pod('del'));
    await objects.wait('pod', 'del', 'ready');
    await failOn(files, 'DEL', '{"cniVersion":"1.1.0","code":11,"msg":"busy"}');
    const gone = objects.delete([pod('del')]);
    await eventually(async () => {
      expect(await events('FailedKillPod')).toContain('error killing pod: busy');
    });
    expect((await objects.get('pod', 'del')).metadata.deletionTimestamp).toBeDefined();
    await succeedOn(files, 'DEL');
    await gone;
  });

  it('of the host’s network has no CNI call, and the node’s addresses', async () => {
    await run(
      pod(
        'host',
        { hostNetwork: true },
        {
          command: ['sleep', 'infinity'],
          env: [
            { name: 'PLAIN', value: 'x y' },
            { name: 'IPS', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
          ],
        },
      ),
    );
    await objects.wait('pod', 'host', 'ready');
    expect((await statusOf('host')).podIPs).toEqual([{ ip: '172.20.0.11' }, { ip: 'fd00:172:20::b' }]);
    expect(await callsOf('host')).toEqual([]);
    const { stdout } = await sandbox.exec('default/host', [
      'sh',
      '-c',
      'hostname; echo "$PLAIN $IPS"; ls /sys/class/net',
    ]);
    expect(stdout).toMatch(/^node-1\nx y 172\.20\.0\.11,fd00:172:20::b\n(.*\n)*br-ex\n/);
  });

  it('that is done succeeds, and gives its network back', async () => {
    await run(pod('job', { restartPolicy: 'Never' }, { command: ['sh', '-c', 'exit 0'] }));
    await run(pod('bad', { restartPolicy: 'Never' }, { command: ['sh', '-c', 'exit 3'] }));
    await eventually(async () => expect((await statusOf('job')).phase).toBe('Succeeded'));
    await eventually(async () => expect((await statusOf('bad')).phase).toBe('Failed'));
    await eventually(async () => expect(await callsOf('job')).toEqual(['ADD', 'DEL']));
    expect((await statusOf('bad')).containerStatuses[0]?.state.terminated).toMatchObject({
      exitCode: 3,
      reason: 'Error',
    });
  });

  it('whose container ends is started again, in the same network', async () => {
    await run(pod('again', {}, { command: ['sh', '-c', '[ -f /run/once ] || sleep 0.1; exit 5'] }));
    await eventually(async () => {
      const [container] = (await statusOf('again')).containerStatuses;
      expect(container?.restartCount).toBeGreaterThanOrEqual(1);
      expect(container?.lastState.terminated?.exitCode).toBe(5);
    });
    expect(await callsOf('again')).toEqual(['ADD']);
  });

  it('whose command does not exist says so', async () => {
    await run(pod('none', { restartPolicy: 'Never' }, { command: ['/no/such/program'] }));
    await eventually(async () => {
      const [container] = (await statusOf('none')).containerStatuses;
      expect(container?.state.terminated).toMatchObject({ exitCode: 127, reason: 'StartError' });
    });
  });

  it('is Ready when its probe says so, which comes from the kubelet’s cgroup', async () => {
    await run(
      pod(
        'probed',
        {},
        {
          command: ['sh', '-c', 'while [ ! -f /tmp/go ]; do sleep 0.05; done; exec toolbox'],
          readinessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 0.2, failureThreshold: 1 },
          ports: [{ name: 'http', containerPort: 8080 }],
        },
      ),
    );
    await eventually(async () => expect(await events('Unhealthy')).not.toEqual([]));
    expect((await statusOf('probed')).containerStatuses[0]?.ready).toBe(false);
    await onNode('nft', 'add table inet t; add chain inet t o { type filter hook output priority 0; };');
    await onNode(
      'nft',
      'add rule inet t o socket cgroupv2 level 2 "kubelet.slice/kubelet.service" tcp dport 8080 counter',
    );
    await sandbox.exec('default/probed', ['touch', '/tmp/go']);
    await objects.wait('pod', 'probed', 'ready');
    expect(await onNode('nft', 'list', 'table', 'inet', 't')).toMatch(/counter packets [1-9]/);
    await onNode('nft', 'delete', 'table', 'inet', 't');
  });

  it('that fails its liveness probe is started again', async () => {
    await run(
      pod(
        'alive',
        {},
        {
          livenessProbe: {
            exec: { command: ['test', '!', '-f', '/tmp/dead'] },
            periodSeconds: 0.1,
            failureThreshold: 1,
          },
        },
      ),
    );
    await objects.wait('pod', 'alive', 'ready');
    await sandbox.exec('default/alive', ['touch', '/tmp/dead']);
    await eventually(async () => {
      const [container] = (await statusOf('alive')).containerStatuses;
      expect(container).toMatchObject({ restartCount: 1, ready: true });
    });
  });

  it('goes to the node of its nodeSelector, or waits', async () => {
    await run(pod('here', { nodeSelector: { 'kubernetes.io/hostname': NODE } }));
    await run(pod('nowhere', { nodeSelector: { 'kubernetes.io/hostname': 'node-7' } }));
    await objects.wait('pod', 'here', 'ready');
    expect((await objects.get('pod', 'nowhere'))['spec']).not.toHaveProperty('nodeName');
  });

  it('gets SIGTERM, and SIGKILL when its grace period is over', async () => {
    const stubborn = pod(
      'stubborn',
      { terminationGracePeriodSeconds: 1 },
      {
        command: ['bash', '-c', 'trap "echo asked" TERM; echo up; while :; do sleep 0.1; done'],
      },
    );
    await run(stubborn);
    await objects.wait('pod', 'stubborn', 'ready');
    const { metadata } = await objects.get('pod', 'stubborn');
    const log = `/var/log/pods/default_stubborn_${metadata.uid}/c/0.log`;
    await eventually(async () => expect(await onNode('cat', log)).toBe('up\n'));
    const start = performance.now();
    await objects.delete([stubborn]);
    expect(performance.now() - start).toBeGreaterThan(900);
    expect(await onNode('cat', log)).toBe('up\nasked\n');
  });

  it('of the same name as one that went by force is another one', async () => {
    await run(pod('again', { nodeName: NODE }));
    await objects.wait('pod', 'again', 'ready');
    const client = await sandbox.client();
    const before = await objects.get('pod', 'again');
    // Twice, so that the second one goes while the kubelet has only begun with it.
    for (let i = 0; i < 2; i += 1) {
      await client.delete(PODS, { namespace: 'default', name: 'again' }, { gracePeriodSeconds: 0 });
      await objects.apply([pod('again', { nodeName: NODE })]);
    }
    await objects.wait('pod', 'again', 'ready');
    const after = await objects.get('pod', 'again');
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    const containerOf = ({ status }: Record<string, unknown>) =>
      (status as PodStatus).containerStatuses[0]?.containerID;
    expect(containerOf(after)).not.toBe(containerOf(before));
  });

  it('survives the kubelet, which takes it over', async () => {
    await run(pod('survivor'), pod('deleted-meanwhile'));
    await objects.wait('pod', 'survivor', 'ready');
    await objects.wait('pod', 'deleted-meanwhile', 'ready');
    const before = (await statusOf('survivor')).containerStatuses[0];
    await sandbox.kill(NODE, 'kubelet', 'SIGKILL');
    await objects.delete([pod('deleted-meanwhile')]);
    expect(await callsOf('deleted-meanwhile')).toEqual(['ADD', 'DEL']);
    expect(await callsOf('survivor')).toEqual(['ADD']);
    expect((await statusOf('survivor')).containerStatuses[0]).toMatchObject({
      containerID: before?.containerID,
      restartCount: 0,
      ready: true,
    });
    await sandbox.exec('default/survivor', ['curl', '-s', 'localhost:8080/healthz']);
  });

  it('what a killed kubelet had begun is given back, and GC gets what is left', async () => {
    await run(pod('kept'));
    await objects.wait('pod', 'kept', 'ready');
    await failOn(files, 'ADD', '{"code":11,"msg":"no"}');
    await failOn(files, 'DEL', '{"code":11,"msg":"no"}');
    await run(pod('begun'));
    await eventually(async () => expect(await callsOf('begun')).toContain('DEL'));
    await sandbox.kill(NODE, 'kubelet', 'SIGKILL');
    for (const command of ['ADD', 'DEL']) await succeedOn(files, command);
    await objects.wait('pod', 'begun', 'ready');
    const kept = (await fakeCniCalls(files)).find(({ args }) => args.includes('NAME=kept'))?.containerId;
    const { 'cni.dev/valid-attachments': valid } = JSON.parse(await onNode('cat', '/run/fake-cni.calls.GC'));
    expect(valid).toContainEqual({ containerID: kept, ifname: 'eth0' });
  });

  it('many at once', async () => {
    const many = Array.from({ length: 20 }, (_, i) => pod(`many-${i}`, { terminationGracePeriodSeconds: 5 }));
    await run(...many);
    await Promise.all(many.map(({ metadata }) => objects.wait('pod', metadata.name ?? '', 'ready')));
  });

  it('is found by its Service: EndpointSlices follow', async () => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    };
    const labelled = pod('web');
    await run(service, { ...labelled, metadata: { ...labelled.metadata, labels: { app: 'web' } } });
    await objects.wait('pod', 'web', 'ready');
    const { podIP } = await statusOf('web');
    await eventually(async () => {
      expect(await objects.get('endpointslice', 'web-ipv4-1')).toMatchObject({
        addressType: 'IPv4',
        ports: [{ port: 8080, protocol: 'TCP' }],
        endpoints: [{ addresses: [podIP], conditions: { ready: true }, nodeName: NODE }],
      });
    });
  });
});

it('another process can use it by its name', async () => {
  const other = openSandbox(NAME);
  expect((await (await other.objects()).get('node', NODE)).metadata.name).toBe(NODE);
  (await other.client()).close();
});
