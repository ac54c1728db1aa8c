AsyncApiStandalone.render(
  {
    schema: { url: '/api/v1/asyncapi.json', options: { method: 'GET', mode: 'cors' } },
    config: { show: { sidebar: true, errors: true }, expand: { messageExamples: true } },
  },
  document.getElementById('document'),
)
