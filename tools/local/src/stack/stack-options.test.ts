import { readStackOptions } from './stack-options.ts'

test('the defaults are the standard ports, one api, one fanout and two workers', () => {
  expect(readStackOptions({})).toEqual({
    home: '.local',
    apiPort: 8080,
    idpPort: 8090,
    replicas: { api: 1, fanout: 1, 'delivery-worker': 2 },
  })
})

test('reads every variable and accepts port 0', () => {
  const env = {
    SWITCHHOOK_HOME: '/tmp/other',
    API_PORT: '0',
    DEV_IDP_PORT: '9000',
    REPLICAS_API: '2',
    REPLICAS_FANOUT: '0',
    REPLICAS_WORKER: '3',
  }
  expect(readStackOptions(env)).toEqual({
    home: '/tmp/other',
    apiPort: 0,
    idpPort: 9000,
    replicas: { api: 2, fanout: 0, 'delivery-worker': 3 },
  })
})

test('reports all invalid values together', () => {
  expect(() => readStackOptions({ API_PORT: '70000', DEV_IDP_PORT: '', REPLICAS_WORKER: '-1' })).toThrow(
    /^invalid configuration\n {2}API_PORT must be .*\n {2}REPLICAS_WORKER must be [^\n]*$/,
  )
})
