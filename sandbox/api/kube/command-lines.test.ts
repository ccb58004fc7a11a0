import { expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { apiServerCommand, controllerManagerCommand, etcdCommand, schedulerCommand } from './command-lines.ts';
import { kubePaths } from './paths.ts';

const paths = kubePaths('/run/s/api');
const apiServer = (serviceSubnets: readonly string[]) =>
  apiServerCommand({
    program: '/c/kube-apiserver',
    paths,
    port: 6443,
    advertise: parseIp('172.20.0.1'),
    serviceSubnets,
  });

it('the API server authenticates and authorizes everybody', () => {
  const { file, args } = apiServer(['10.96.0.0/16', 'fd00:10:96::/112']);
  expect(file).toBe('/c/kube-apiserver');
  expect([...args].sort()).toMatchInlineSnapshot(`
    [
      "--advertise-address=172.20.0.1",
      "--allow-privileged=true",
      "--authorization-mode=Node,RBAC",
      "--bind-address=::",
      "--client-ca-file=/run/s/api/ca.crt",
      "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
      "--etcd-servers=http://127.0.0.1:2379",
      "--kubelet-client-certificate=/run/s/api/kubelet-client.crt",
      "--kubelet-client-key=/run/s/api/kubelet-client.key",
      "--kubelet-preferred-address-types=InternalIP",
      "--secure-port=6443",
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      "--service-account-key-file=/run/s/api/tokens.key",
      "--service-account-signing-key-file=/run/s/api/tokens.key",
      "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",
      "--tls-cert-file=/run/s/api/server.crt",
      "--tls-private-key-file=/run/s/api/server.key",
    ]
  `);
});

it('opens connections by a proxy where one is given, and takes its tokens beside its own', () => {
  const egress = { configuration: '/run/s/api/egress.yaml', audience: 'proxy' };
  const spec = { program: '/c/kube-apiserver', paths, port: 6443, advertise: parseIp('172.20.0.1'), egress };
  const { args } = apiServerCommand({ ...spec, serviceSubnets: ['10.96.0.0/16'] });
  expect(args).toContain('--egress-selector-config-file=/run/s/api/egress.yaml');
  expect(args).toContain('--api-audiences=https://kubernetes.default.svc.cluster.local,proxy');
});

it('listens on IPv4 alone where there is nothing else', () => {
  expect(apiServer(['10.96.0.0/16']).args).toContain('--bind-address=0.0.0.0');
  expect(apiServer(['fd00:10:96::/112']).args).toContain('--bind-address=::');
});

it('etcd is reached from its own network only', () => {
  const { args } = etcdCommand('/c/etcd', paths);
  expect(args.filter((argument) => argument.includes('http'))).toSatisfy((urls: string[]) =>
    urls.every((url) => url.includes('http://127.0.0.1:')),
  );
  expect(args).toContain('/run/s/api/etcd');
});

it('the controller manager has an identity of its own and serves nothing', () => {
  const { args } = controllerManagerCommand('/c/kube-controller-manager', paths, 'few');
  expect(args).toContain('--kubeconfig=/run/s/api/controller-manager.kubeconfig');
  expect(args).toContain('--secure-port=0');
});

it('the controller manager has all controllers where the sandbox has none of its own', () => {
  const controllersOf = (scope: 'few' | 'all') =>
    controllerManagerCommand('/c/kube-controller-manager', paths, scope).args.find((one) =>
      one.startsWith('--controllers='),
    );
  expect(controllersOf('all')).toBe('--controllers=*');
  expect(controllersOf('few')).toContain('garbage-collector-controller');
  expect(controllersOf('few')).not.toContain('endpointslice');
});

it('the scheduler has an identity of its own and serves nothing', () => {
  const { args } = schedulerCommand('/c/kube-scheduler', paths);
  expect(args).toContain('--kubeconfig=/run/s/api/scheduler.kubeconfig');
  expect(args).toContain('--secure-port=0');
});
