/** The reference: a chart whose DaemonSet puts the CNI plugin `bridge`, and its configuration, on every node. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** IPv4 alone: with IPv6 the plugin waits for duplicate address detection, and would be slower. */
const CONFIGURATION = {
  cniVersion: '1.0.0',
  name: 'bridge',
  plugins: [
    {
      ...{ type: 'bridge', bridge: 'cni0', isGateway: true },
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.200.0.0/24' }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
};

/** The nodes of the sandbox have the plugins of Debian's package. */
const PLUGINS = '/usr/lib/cni';
const FILE = '10-bridge.conflist';

/** The configuration comes last: by it, a kubelet knows that pods can be added. */
const INSTALL = [
  'cp /plugins/bridge /plugins/host-local /bin-of-node/',
  `cp /configuration/${FILE} /conf-of-node/${FILE}`,
  'exec sleep infinity',
].join(' && ');

const hostPath = (name: string, path: string) => ({ name, hostPath: { path, type: 'DirectoryOrCreate' } });

const OBJECTS = [
  {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bridge' } },
    data: { [FILE]: JSON.stringify(CONFIGURATION) },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'bridge' } },
    spec: {
      selector: { matchLabels: { app: 'bridge' } },
      template: {
        metadata: { labels: { app: 'bridge' } },
        spec: {
          hostNetwork: true,
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              ...{ name: 'install', image: 'toolbox', command: ['sh', '-c', INSTALL] },
              volumeMounts: [
                { name: 'plugins', mountPath: '/plugins', readOnly: true },
                { name: 'configuration', mountPath: '/configuration', readOnly: true },
                { name: 'bin', mountPath: '/bin-of-node' },
                { name: 'conf', mountPath: '/conf-of-node' },
              ],
            },
          ],
          volumes: [
            hostPath('plugins', PLUGINS),
            { name: 'configuration', configMap: { name: 'bridge' } },
            hostPath('bin', '/opt/cni/bin'),
            hostPath('conf', '/etc/cni/net.d'),
          ],
        },
      },
    },
  },
];

/** @returns the chart's folder, in `folder` */
export const writeBridgeChart = async (folder: string): Promise<string> => {
  const chart = join(folder, 'bridge');
  await mkdir(join(chart, 'templates'), { recursive: true });
  await writeFile(join(chart, 'Chart.yaml'), stringify({ apiVersion: 'v2', name: 'bridge', version: '0.1.0' }));
  await writeFile(join(chart, 'templates', 'bridge.yaml'), OBJECTS.map((one) => stringify(one)).join('---\n'));
  return chart;
};
