/** What lets pods name the image `toolbox` without saying more, as they may where the kubelet is a stand-in. */
import { podPolicy } from './pod-policy.ts';

/** A name without tag is `latest`, for which a kubelet would ask a registry; every node has it already. */
const EXPRESSION = `Object{spec: Object.spec{
  containers: object.spec.containers
    .filter(c, c.image == 'toolbox')
    .map(c, Object.spec.containers{name: c.name, imagePullPolicy: 'IfNotPresent'}),
  initContainers: object.spec.?initContainers.orValue([])
    .filter(c, c.image == 'toolbox')
    .map(c, Object.spec.initContainers{name: c.name, imagePullPolicy: 'IfNotPresent'})}}`;

export const IMAGE_POLICY = podPolicy({ name: 'sandbox-images', expression: EXPRESSION });
