/** An admission webhook behind a Service, which refuses whatever it is asked about. */
import type { Authority } from '../../../../sandbox/api/kube/certificate.ts';
import type { ManifestObject } from '../../../../sandbox/index.ts';
import { python } from '../../../oracles/python.ts';

const PORT = 8443;
const NAME = 'judge';

export const webhookNames = (namespace: string) => ({
  webhook: `${NAME}.${namespace}.example.org`,
  server: `${NAME}.${namespace}.svc`,
});

/** It is asked about ConfigMaps that are created with the label `judge: NAMESPACE`. @param namespace of its pod and Service */
export const refusingWebhook = (authority: Authority, namespace: string, node: string): ManifestObject[] => {
  const { webhook, server } = webhookNames(namespace);
  const { certificate, key } = authority.issue({ commonName: server }, [server]);
  return [
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: NAME } },
      spec: { selector: { app: NAME }, ports: [{ protocol: 'TCP', port: 443, targetPort: PORT }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: NAME, labels: { app: NAME } } },
      spec: {
        ...{ nodeName: node, terminationGracePeriodSeconds: 1 },
        containers: [
          {
            ...{ name: 'main', image: 'toolbox', command: python(SERVER, String(PORT)) },
            env: [{ name: 'SERVER_CERTIFICATE', value: `${certificate}${key}` }],
          },
        ],
      },
    },
    {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
      metadata: { name: `${NAME}-${namespace}` },
      webhooks: [
        {
          ...{ name: webhook, admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 5 },
          clientConfig: {
            service: { namespace, name: NAME, path: '/', port: 443 },
            caBundle: Buffer.from(authority.certificate).toString('base64'),
          },
          objectSelector: { matchLabels: { judge: namespace } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
      ],
    },
  ];
};

const SERVER = `
import http.server, json, os, socket, ssl, sys, tempfile

class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['content-length'])))
        answer = {'uid': asked['request']['uid'], 'allowed': False, 'status': {'message': 'the webhook refuses it'}}
        review = {'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'response': answer}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

with tempfile.NamedTemporaryFile('w') as file:
    file.write(os.environ['SERVER_CERTIFICATE'])
    file.flush()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file.name)
server = Server(('::', int(sys.argv[1])), Judge)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
`;
