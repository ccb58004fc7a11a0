import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { containerdConfiguration, inNewCgroup, kubeletArguments, kubeletConfiguration } from './configuration.ts';

describe('the kubelet', () => {
  it('lets in whom the API server knows, and may set nothing of this machine', () => {
    expect(parse(kubeletConfiguration(['10.96.0.10', 'fd00:10:96::a']))).toMatchObject({
      authentication: { anonymous: { enabled: false }, x509: { clientCAFile: '/etc/ovn-udn/ca.crt' } },
      authorization: { mode: 'Webhook' },
      clusterDNS: ['10.96.0.10', 'fd00:10:96::a'],
      protectKernelDefaults: true,
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    });
  });

  it('has the addresses of its node', () => {
    const args = kubeletArguments({ name: 'node-1', addresses: ['172.20.0.11', 'fd00:172:20::b'] });
    expect(args[0]).toBe('/opt/ovn-udn/bin/kubelet');
    expect(args).toContain('--node-ip=172.20.0.11,fd00:172:20::b');
    expect(args).toContain('--hostname-override=node-1');
    expect(args).toContain('--kubeconfig=/etc/kubernetes/kubelet.conf');
  });
});

it('containerd finds plugins and their configuration where agents put them', () => {
  const text = containerdConfiguration();
  expect(text).toContain('bin_dir = "/opt/cni/bin"');
  expect(text).toContain('conf_dir = "/etc/cni/net.d"');
  expect(text).toContain('sandbox_image = "localhost/pause:1"');
});

it('a service is in its cgroup before it starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'udn-cgroup-'));
  try {
    const cgroup = join(folder, 'kubelet.service');
    const [file = '', ...args] = inNewCgroup(cgroup, ['sh', '-c', `cat ${cgroup}/cgroup.procs; echo $$`]);
    const [member, self] = execFileSync(file, args).toString().split('\n');
    expect(member).toMatch(/^\d+$/);
    expect(member).toBe(self);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
