/** Where the kernel has no datapath, the pods of an installation with Open vSwitch and OVN get the userspace one. */
import { podPolicy } from './pod-policy.ts';

/** The pods of `daemonset/ovn`: its databases were init containers once, and upgrades start from there. */
const CONDITION = `object.metadata.?labels['app.kubernetes.io/name'].orValue('') == 'udn-ovn'`;

const EXPRESSION = `Object{spec: Object.spec{
  initContainers: object.spec.?initContainers.orValue([])
    .filter(c, c.name == 'ovsdb-server')
    .map(c, Object.spec.initContainers{
      name: c.name,
      env: [Object.spec.initContainers.env{name: 'OVN_DATAPATH', value: 'netdev'}]}),
  containers: object.spec.containers
    .filter(c, c.name == 'ovsdb-server')
    .map(c, Object.spec.containers{
      name: c.name,
      env: [Object.spec.containers.env{name: 'OVN_DATAPATH', value: 'netdev'}]}) + [Object.spec.containers{
    name: 'ovs-vswitchd',
    volumeMounts: [Object.spec.containers.volumeMounts{name: 'tun', mountPath: '/dev/net/tun'}]}],
  volumes: [Object.spec.volumes{
    name: 'tun',
    hostPath: Object.spec.volumes.hostPath{path: '/dev/net/tun', type: 'CharDevice'}}]}}`;

export const USERSPACE_POLICY = podPolicy({
  name: 'sandbox-userspace-datapath',
  expression: EXPRESSION,
  condition: CONDITION,
});
