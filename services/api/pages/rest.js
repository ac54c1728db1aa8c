SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#document',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelRendering: 'model',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  // The token that a reader pastes stays in this page.
  persistAuthorization: false,
  validatorUrl: null,
  // Swagger UI leaves the list of servers without a label.
  onComplete: () => document.getElementById('servers')?.setAttribute('aria-label', 'Server'),
})
